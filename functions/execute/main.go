// Command execute is the function behind the routes that run snippets. It checks
// them, has them run, records what came of them and answers.
package main

import (
	"context"
	"io"
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
		runner, err := p.Runner(ctx)
		if err != nil {
			return err
		}
		handler, err := build(p, p.Reporting(runner), os.Stdout)
		if err == nil {
			gateway.Serve(handler, p.Log)
		}
		return err
	})
}

func build(p functions.Parts, runner gateway.Box, log io.Writer) (http.Handler, error) {
	counted := emf.New(p.Store, log, p.Settings.Namespace)
	return p.Handler(p.Service(runner, counted), runner.Runtime)
}
