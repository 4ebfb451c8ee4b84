// Package api is the HTTP surface of Cloche: routes, decoding, problem
// documents and the OpenAPI document. It bounds what it reads, says which field
// is wrong without repeating what was in it, and leaves the run to the service.
//
// Routes are described with huma's types, so that the document comes from the
// Go types, and served by a table of our own: a refusal must look the same
// wherever it is made, and none repeats a value.
//
// What it holds for callers has budgets: bodies that arrive and answers that
// are not read yet. Who is slowest gives way to the others.
package api

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"cloche/internal/service"
	"cloche/internal/snippet"
)

// DefaultBodyTimeout is how long a caller may take to send a body.
const DefaultBodyTimeout = 30 * time.Second

// Config says what the handler works with.
type Config struct {
	Service       *service.Service                                // required
	Reader        Reader                                          // required; what GET /metrics and GET /events read
	Runtime       func() snippet.Runtime                          // required; must answer at once
	Policy        snippet.Policy                                  // shown by GET /policy
	Packages      func(context.Context) (snippet.Packages, error) // what GET /packages shows; nil: what Runtime knows
	Version       string                                          // of Cloche
	Page          fs.FS                                           // the dashboard, index.html and what it loads; nil: there is none
	AllowedHosts  []string                                        // names beside the loopback ones, without port; "*" allows any
	BodyTimeout   time.Duration                                   // zero: DefaultBodyTimeout
	RunsElsewhere bool                                            // other processes run snippets too: GET /metrics has no load and GET /health no state of the record, since this one's are not the service's
	Log           *slog.Logger                                    // nil: nothing is logged
}

type server struct {
	config   Config
	log      *slog.Logger
	small    *budget       // of bodies up to smallBody
	large    *budget       // of all others
	answers  *budget       // of answers above smallAnswer
	invalid  atomic.Int64  // requests refused for what they were
	decoding chan struct{} // one place a core: decoding is work for a processor and takes memory
	working  chan struct{} // the same for encoding of large answers
}

// route is one operation: how it is described and how it is served.
type route struct {
	operation huma.Operation
	handler   http.Handler
}

// New makes the handler for all routes. The error says what Config lacks.
func New(c Config) (http.Handler, error) {
	s, err := newServer(c)
	if err != nil {
		return nil, err
	}
	return s.handler()
}

// newServer has its budgets, whole, and as many places for work as there are cores.
func newServer(c Config) (*server, error) {
	if c.Service == nil || c.Runtime == nil || c.Reader == nil {
		return nil, errors.New("api: Config needs Service, Runtime and Reader")
	}
	if c.BodyTimeout <= 0 {
		c.BodyTimeout = DefaultBodyTimeout
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	cores := runtime.GOMAXPROCS(0)
	return &server{
		config: c, log: c.Log,
		small: newBudget(smallBodies), large: newBudget(largeBodies), answers: newBudget(largeAnswers),
		decoding: make(chan struct{}, cores), working: make(chan struct{}, cores),
	}, nil
}

func (s *server) handler() (http.Handler, error) {
	document := newDocument(s.config.Version)
	routes, err := s.routes(document)
	if err != nil {
		return nil, err
	}
	return s.protect(s.mux(routes)), nil
}

// mux serves the routes, and answers everything else with a problem document.
// All paths are fixed, so a path is looked up as it came: net/http's own mux would
// answer some by a redirect or a status without a text (//x, OPTIONS *).
func (s *server) mux(routes []route) http.Handler {
	paths := map[string]map[string]http.Handler{}
	for _, r := range routes {
		if paths[r.operation.Path] == nil {
			paths[r.operation.Path] = map[string]http.Handler{}
		}
		for _, method := range methods(r.operation.Method) {
			paths[r.operation.Path][method] = r.handler
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handlers, known := paths[r.URL.Path]
		if !known {
			s.refuse(w, r, problemOf(http.StatusNotFound, "There is nothing at this path; GET /openapi.json lists the paths."))
			return
		}
		if handler := handlers[r.Method]; handler != nil {
			handler.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Allow", strings.Join(slices.Sorted(maps.Keys(handlers)), ", "))
		s.refuse(w, r, problemOf(http.StatusMethodNotAllowed, "This path does not take this method."))
	})
}

// methods lists what is served for a route with this method: net/http leaves the
// body out of an answer to HEAD.
func methods(method string) []string {
	if method == http.MethodGet {
		return []string{http.MethodGet, http.MethodHead}
	}
	return []string{method}
}
