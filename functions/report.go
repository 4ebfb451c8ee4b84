package functions

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"sync"
	"time"

	"cloche/internal/gateway"
	"cloche/internal/snippet"
)

// Reports keep what a runner says about itself: who runs snippets knows it, and
// another function shows it.
type Reports interface {
	SaveReport(ctx context.Context, r snippet.Runtime, at time.Time) error
	// LastReport has a zero time if there is none.
	LastReport(ctx context.Context) (snippet.Runtime, time.Time, error)
}

// How often reports are written and read. A runner that says something else each
// time does not change that.
const (
	unchangedFor = 10 * time.Minute
	changedFor   = time.Minute
	shownFor     = 30 * time.Second
	reportTime   = 500 * time.Millisecond // of one access
)

// reporter is a Box whose description is kept after a run.
type reporter struct {
	gateway.Box
	parts Parts

	mu   sync.Mutex
	last snippet.Runtime
	at   time.Time
}

// Reporting makes the runner's description known to the function that shows it.
func (p Parts) Reporting(runner gateway.Box) gateway.Box {
	return &reporter{Box: runner, parts: p}
}

// Run takes no time for the description that is kept for recording the run.
func (r *reporter) Run(ctx context.Context, job snippet.Job) (snippet.Result, error) {
	result, err := r.Box.Run(ctx, job)
	if said := r.Runtime(); said.Python != "" && ctx.Err() == nil && r.due(said) {
		ctx, cancel := context.WithTimeout(ctx, reportTime)
		defer cancel()
		if err := r.parts.Reports.SaveReport(ctx, said, time.Now()); err != nil {
			r.parts.Log.Warn("runner's description not kept", slog.String("cause", err.Error()))
		}
	}
	return result, err
}

// Runtime has what the runner cannot know: whether it is a tenant's own.
func (r *reporter) Runtime() snippet.Runtime {
	said := r.Box.Runtime()
	said.Layers = append([]snippet.Layer{r.parts.tenants()}, said.Layers...)
	return said
}

func (r *reporter) due(said snippet.Runtime) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	age := time.Since(r.at)
	if age < changedFor || age < unchangedFor && reflect.DeepEqual(said, r.last) {
		return false
	}
	r.last, r.at = said, time.Now()
	return true
}

// tenants is the outermost layer, which the template decides on.
func (p Parts) tenants() snippet.Layer {
	l := snippet.Layer{Name: "microvm", Means: "Each tenant's snippets have a virtual machine of their own; all callers of the API are one tenant."}
	switch {
	case p.Settings.Inline:
		l.Detail = "snippets run inside the function that answers"
	case !p.Settings.Isolated:
		l.Detail = "tenant isolation is off: a machine serves one tenant after the other"
	default:
		l.Active, l.Detail = true, "tenant isolation mode of AWS Lambda"
	}
	return l
}

// LastRuntime returns a function that tells what the runner last reported, with
// its age as one more layer.
func (p Parts) LastRuntime() func() snippet.Runtime {
	var mu sync.Mutex
	var shown snippet.Runtime
	var asked time.Time
	return func() snippet.Runtime {
		mu.Lock()
		defer mu.Unlock()
		if time.Since(asked) > shownFor {
			shown, asked = p.readReport(), time.Now()
		}
		return shown
	}
}

func (p Parts) readReport() snippet.Runtime {
	ctx, cancel := context.WithTimeout(context.Background(), reportTime)
	defer cancel()
	said, at, err := p.Reports.LastReport(ctx)
	age := snippet.Layer{Name: "report", Means: "When the function that runs snippets last described itself."}
	switch {
	case err != nil:
		p.Log.Warn("runner's description not read", slog.String("cause", err.Error()))
		age.Detail = "it cannot be read"
	case at.IsZero():
		age.Detail = "no snippet has run yet"
	default:
		age.Active = true
		age.Detail = fmt.Sprintf("%s, %v ago", at.Format(time.RFC3339), time.Since(at).Round(time.Second))
	}
	said.Layers = append(said.Layers, age)
	return said
}
