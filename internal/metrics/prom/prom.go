// Package prom writes a Snapshot and a Load, where it is known, as Prometheus
// text. The number of series is the same whatever was run: labels come from the closed sets of
// outcomes and reasons, never from a tenant, a caller or a snippet.
package prom

import (
	"fmt"
	"io"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"

	"cloche/internal/metrics"
)

// ContentType is the media type of what Write writes: the text format 0.0.4
// (https://prometheus.io/docs/instrumenting/exposition_formats/).
const ContentType = string(expfmt.FmtText)

// Write writes the exposition. An error comes from w, or means that the
// snapshot was not made by metrics.State.
func Write(w io.Writer, s metrics.Snapshot, l metrics.Load) error {
	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(collector{s, l}); err != nil {
		return fmt.Errorf("register collector: %w", err)
	}
	families, err := registry.Gather()
	if err != nil {
		return fmt.Errorf("gather metrics: %w", err)
	}
	encoder := expfmt.NewEncoder(w, expfmt.FmtText)
	for _, f := range families {
		if err := encoder.Encode(f); err != nil {
			return fmt.Errorf("write metric %s: %w", f.GetName(), err)
		}
	}
	return nil
}
