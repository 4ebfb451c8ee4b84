// Command execute is the function behind the routes that run snippets. It checks
// them, has them run, records what came of them and answers.
package main

import (
	"context"
	"net/http"
	"os"

	"cloche/functions"
	"cloche/internal/gateway"
	"cloche/internal/guard"
	"cloche/internal/metrics/emf"
)

func main() {
	guard.Main() // in a helper process of the sandbox this call does not return
	functions.Main(func(ctx context.Context, p functions.Parts) error {
		handler, err := build(ctx, p)
		if err == nil {
			gateway.Serve(handler, p.Log)
		}
		return err
	})
}

func build(ctx context.Context, p functions.Parts) (http.Handler, error) {
	runner, err := p.Runner(ctx)
	if err != nil {
		return nil, err
	}
	counted := emf.New(p.Store, os.Stdout, p.Settings.Namespace)
	return p.Handler(p.Service(runner, counted), runner.Runtime)
}
