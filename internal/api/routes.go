package api

import (
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"cloche/internal/snippet"
)

const executeDoc = `Runs a Python snippet once and says what came of it. Every run is answered with 200, whatever its outcome; any other status means that nothing ran, except that a caller who leaves ends the run.

The body must be one JSON object, sent as Content-Type: application/json (a charset other than utf-8, a missing type and a compressed body are refused with 415). Names must be unique and text valid Unicode; unknown fields are refused. A field that is not required may be null, which means the same as leaving it out. Whole numbers may be written in any way that JSON has: 5000, 5000.0 and 5e3 are the same.

X-Request-Id names the request in the log and in the event. It is given back as a header of the answer, and refused with 422 if it has another form.`

// routes is the list of all operations: what the document shows is what is
// served.
func (s *server) routes(d *document) ([]route, error) {
	policy, err := fixed(s.config.Policy)
	if err != nil {
		return nil, fmt.Errorf("encode policy: %w", err)
	}
	routes := []route{
		{huma.Operation{
			OperationID: "execute", Method: http.MethodPost, Path: "/execute",
			Summary: "Run a snippet", Description: executeDoc,
			RequestBody: d.requestBody(),
			Responses: d.responses("The verdict on the run.", schemaOf[snippet.Result](d),
				http.StatusBadRequest, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge,
				http.StatusUnsupportedMediaType, http.StatusTooManyRequests, http.StatusServiceUnavailable),
		}, http.HandlerFunc(s.execute)},
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
	}
	return d.finish(routes)
}
