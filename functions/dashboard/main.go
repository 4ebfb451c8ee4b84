// Command dashboard is the function behind the routes that only read: the page,
// what was counted, and how the service is made. It runs nothing.
package main

import (
	"context"
	"net/http"

	"cloche/functions"
	"cloche/internal/gateway"
	"cloche/internal/snippet"
)

func main() {
	functions.Main(func(_ context.Context, p functions.Parts) error {
		handler, err := build(p)
		if err == nil {
			gateway.Serve(handler, p.Log)
		}
		return err
	})
}

func build(p functions.Parts) (http.Handler, error) {
	return p.Handler(p.Service(nobody{}, p.Store), p.LastRuntime())
}

// nobody runs nothing: other functions do.
type nobody struct{}

func (nobody) Run(context.Context, snippet.Job) (snippet.Result, error) {
	return snippet.Result{}, snippet.ErrUnavailable
}
