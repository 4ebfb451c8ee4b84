package api

import (
	"github.com/danielgtaylor/huma/v2"

	"cloche/internal/metrics"
	"cloche/internal/snippet"
)

// cursorPattern is narrower than what is read: it is what next holds.
const cursorPattern = `^[0-9]{1,18}\.[0-9A-Za-z_-]{1,64}$`

// eventQuery describes eventParameters.
func eventQuery() []*huma.Param {
	outcome := &huma.Schema{Type: huma.TypeString}
	for _, o := range snippet.Outcomes() {
		outcome.Enum = append(outcome.Enum, o)
	}
	query := []*huma.Param{
		{Name: "outcome", Description: "Only runs with this outcome.", Schema: outcome},
		{
			Name: "since", Description: "Only runs that ended at this time or later, as in RFC 3339.",
			Schema: &huma.Schema{Type: huma.TypeString, Format: "date-time"},
		},
		{Name: "limit", Description: "Most records in the page.", Schema: &huma.Schema{
			Type: huma.TypeInteger, Minimum: number(1), Maximum: number(metrics.MaxLimit), Default: metrics.DefaultLimit,
		}},
		{
			Name: "cursor", Description: "The value of next in the page before; empty there means that it was the last.",
			Schema: &huma.Schema{Type: huma.TypeString, Pattern: cursorPattern},
		},
	}
	for _, p := range query {
		p.In = "query"
	}
	return query
}
