// Command demo is the function that runs the demo set at each tick of a
// schedule. A set that does not come out as it must is a failed invocation.
package main

import (
	"context"
	"errors"

	"cloche/functions"
	"cloche/internal/gateway"
	"cloche/internal/guard"
	"cloche/internal/service"
)

var errUnexpected = errors.New("the demo set did not come out as it must; the log has its runs")

func main() {
	guard.Main() // in a helper process of the sandbox this call does not return
	functions.Main(func(ctx context.Context, p functions.Parts) error {
		runner, err := p.Runner(ctx)
		if err == nil {
			gateway.ServeSchedule(show(p.Service(runner, p.Store)))
		}
		return err
	})
}

// show runs the set as the tenant of its name. The tick names the runs, so that
// one that is delivered twice counts once.
func show(s *service.Service) func(context.Context, gateway.Tick) error {
	return func(ctx context.Context, t gateway.Tick) error {
		report, err := s.Demo(ctx, service.Caller{Tenant: "demo", Occasion: service.Occasion{ID: t.ID, Time: t.Time}})
		if err == nil && !report.AsExpected {
			return errUnexpected
		}
		return err
	}
}
