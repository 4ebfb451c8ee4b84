package metricstest_test

import (
	"testing"

	"cloche/internal/metrics"
	"cloche/internal/metrics/metricstest"
)

func TestMemory(t *testing.T) {
	metricstest.Run(t, func(*testing.T) metrics.Store { return &metricstest.Memory{} })
}
