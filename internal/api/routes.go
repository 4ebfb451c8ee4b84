package api

import (
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"cloche/internal/metrics"
	"cloche/internal/service"
	"cloche/internal/snippet"
)

const executeDoc = `Runs a Python snippet once and says what came of it. Every run is answered with 200, whatever its outcome; any other status means that nothing ran, except that a caller who leaves ends the run.

The body must be one JSON object, sent as Content-Type: application/json (a charset other than utf-8, a missing type and a compressed body are refused with 415). Names must be unique and text valid Unicode; unknown fields are refused. A field that is not required may be null, which means the same as leaving it out. Whole numbers may be written in any way that JSON has: 5000, 5000.0 and 5e3 are the same.

X-Request-Id names the request in the log and in the event. It is given back as a header of the answer, and refused with 422 if it has another form.`

const metricsDoc = `What was counted: totals by outcome and reason, shares, the durations, the last 60 minutes and the last 50 runs, and how busy the process is. Sums are kept in the records and survive restarts; what is under load starts with the process.

Accept chooses the form: JSON unless text/plain or application/openmetrics-text is wanted more, which gives the text that Prometheus reads (version 0.0.4).`

const eventsDoc = `The records of single runs, newest first, a page at a time. Old records are forgotten; the sums of GET /metrics are not. A parameter that is unknown, repeated or not as it must be is refused with 422, which names it.`

const packagesDoc = `Lists the modules of the top level that snippets find besides Python's standard library. Nothing else can be installed. Listed is not the same as useful: what needs a network, other processes or files elsewhere fails when it tries.`

const demoDoc = `Runs a fixed set of snippets, one after the other in one slot, and says what came of each: safe code, every kind of refusal, a deadline, errors. Each is a run like any other: recorded, and counted as a demo run too. A body is ignored.

With 429 nothing ran. With 503 the cases up to the fault ran and are counted.`

// routes is the list of all operations: what the document shows is what is
// served. Only the page's files are served and not shown.
func (s *server) routes(d *document) ([]route, error) {
	policy, err := fixed(s.config.Policy)
	if err != nil {
		return nil, fmt.Errorf("encode policy: %w", err)
	}
	page, err := pageRoutes(s.config.Page)
	if err != nil {
		return nil, err
	}
	routes := []route{
		{huma.Operation{
			OperationID: "execute", Method: http.MethodPost, Path: "/execute",
			Summary: "Run a snippet", Description: executeDoc,
			RequestBody: d.requestBody(),
			Responses: d.responses("The verdict on the run.", schemaOf[snippet.Result](d),
				http.StatusBadRequest, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge,
				http.StatusUnsupportedMediaType, http.StatusTooManyRequests),
		}, http.HandlerFunc(s.execute)},
		{huma.Operation{
			OperationID: "demo", Method: http.MethodPost, Path: "/demo",
			Summary: "Run the demo set", Description: demoDoc,
			Responses: d.responses("What came of the demo set.", schemaOf[service.DemoReport](d),
				http.StatusTooManyRequests),
		}, http.HandlerFunc(s.demo)},
		{huma.Operation{
			OperationID: "metrics", Method: http.MethodGet, Path: "/metrics",
			Summary: "Show what was counted", Description: metricsDoc,
			Responses: orText(d.responses("What was counted.", schemaOf[Metrics](d))),
		}, http.HandlerFunc(s.metrics)},
		{huma.Operation{
			OperationID: "events", Method: http.MethodGet, Path: "/events",
			Summary: "List single runs", Description: eventsDoc,
			Parameters: eventQuery(),
			Responses:  d.responses("A page of records.", schemaOf[metrics.Page](d)),
		}, http.HandlerFunc(s.events)},
		{huma.Operation{
			OperationID: "health", Method: http.MethodGet, Path: "/health",
			Summary:   "Say that the server lives, and how snippets are isolated",
			Responses: d.responses("The server answers.", schemaOf[Health](d)),
		}, http.HandlerFunc(s.health)},
		{huma.Operation{
			OperationID: "policy", Method: http.MethodGet, Path: "/policy",
			Summary:   "Show which modules snippets may not import, and why",
			Responses: d.responses("The import policy.", schemaOf[snippet.Policy](d)),
		}, policy},
		{huma.Operation{
			OperationID: "packages", Method: http.MethodGet, Path: "/packages",
			Summary: "List what snippets can import besides the standard library", Description: packagesDoc,
			Responses: d.responses("The packages.", schemaOf[Packages](d)),
		}, http.HandlerFunc(s.packages)},
	}
	return d.finish(append(routes, page...))
}
