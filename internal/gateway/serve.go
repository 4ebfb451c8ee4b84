package gateway

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
)

// Serve answers the events of a REST API by a handler. It does not return.
func Serve(h http.Handler, log *slog.Logger) { lambda.Start(New(h, log)) }

// ServeHost answers the invocations of a runner. It does not return.
func ServeHost(h *Host) { lambda.Start(h.handle) }

// Tick is an event of an EventBridge schedule. One that is delivered twice has
// the same ID.
type Tick struct {
	ID   string    `json:"id"`
	Time time.Time `json:"time"`
}

var errTick = errors.New("not an event of a schedule")

// ServeSchedule does something at each Tick. It does not return. An error makes
// the invocation a failed one, whose event Lambda hands on.
func ServeSchedule(do func(context.Context, Tick) error) { lambda.Start(scheduled(do)) }

func scheduled(do func(context.Context, Tick) error) func(context.Context, Tick) error {
	return func(ctx context.Context, t Tick) error {
		if t.ID == "" || t.Time.IsZero() {
			return errTick
		}
		ctx, cancel := shorter(ctx)
		defer cancel()
		return do(ctx, t)
	}
}
