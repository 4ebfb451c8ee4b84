package config

import (
	"slices"
	"testing"
)

func TestEnvironment(t *testing.T) {
	t.Setenv("CLOCHE_ADDR", "x")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	useful, others := Environment()
	if !others || !slices.Contains(useful, "CLOCHE_ADDR=x") || slices.Contains(useful, "AWS_SECRET_ACCESS_KEY=secret") {
		t.Errorf("useful %q, others %t", useful, others)
	}
}
