package api

import (
	"fmt"
	"net/http"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"cloche/internal/snippet"
)

// document builds the OpenAPI document from the Go types.
type document struct {
	api     *huma.OpenAPI
	schemas huma.Registry
}

func newDocument(version string) *document {
	schemas := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	schemas.RegisterTypeAlias(reflect.TypeFor[snippet.Reason](), reflect.TypeFor[reasonSchema]())
	schemas.RegisterTypeAlias(reflect.TypeFor[snippet.Failure](), reflect.TypeFor[orNull[snippet.Failure]]())
	schemas.RegisterTypeAlias(reflect.TypeFor[Load](), reflect.TypeFor[orNull[Load]]())
	return &document{schemas: schemas, api: &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title:       "Cloche",
			Version:     version,
			Description: "Runs Python snippets that nobody trusts, and says plainly what happened.",
		},
		Components: &huma.Components{Schemas: schemas},
	}}
}

// schemaOf is a reference to the schema of T.
func schemaOf[T any](d *document) *huma.Schema {
	return d.schemas.Schema(reflect.TypeFor[T](), true, "")
}

func (d *document) requestBody() *huma.RequestBody {
	return &huma.RequestBody{
		Required: true,
		Content: map[string]*huma.MediaType{"application/json": {
			Schema:  schemaOf[executeRequest](d),
			Example: map[string]any{"code": "6 * 7", "timeout_ms": 1000},
		}},
	}
}

// responses has the good answer, the refusals that every route may give, and
// those that are named.
func (d *document) responses(good string, schema *huma.Schema, refusals ...int) map[string]*huma.Response {
	echo := map[string]*huma.Param{requestIDHeader: {
		Description: "The caller's name of the request, if it sent one.",
		Schema:      &huma.Schema{Type: huma.TypeString},
	}}
	out := map[string]*huma.Response{"200": {
		Description: good, Headers: echo,
		Content: map[string]*huma.MediaType{"application/json": {Schema: schema}},
	}}
	always := []int{http.StatusForbidden, http.StatusUnprocessableEntity, http.StatusInternalServerError, http.StatusServiceUnavailable}
	for _, status := range append(always, refusals...) {
		out[strconv.Itoa(status)] = &huma.Response{
			Description: meanings[status],
			Headers:     headersOf(status),
			Content:     map[string]*huma.MediaType{"application/problem+json": {Schema: schemaOf[Problem](d)}},
		}
	}
	return out
}

// orText adds the form that Prometheus reads to the good answer.
func orText(responses map[string]*huma.Response) map[string]*huma.Response {
	responses["200"].Content[textType] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}}
	return responses
}

var meanings = map[int]string{
	http.StatusBadRequest:            "The body is not a JSON object.",
	http.StatusForbidden:             "The Host header or the origin of the request is not one that the server trusts.",
	http.StatusRequestTimeout:        "The body did not arrive in time.",
	http.StatusRequestEntityTooLarge: fmt.Sprintf("The body is larger than %d bytes.", maxBody),
	http.StatusUnsupportedMediaType:  "The body is not sent as JSON in UTF-8.",
	http.StatusUnprocessableEntity:   "A field, header or parameter is not as it must be; errors says which.",
	http.StatusTooManyRequests:       "No slot got free in time, or the bodies on their way take all their room.",
	http.StatusInternalServerError:   "A fault of the server.",
	http.StatusServiceUnavailable:    "Too many requests are open, no sandbox is available, or the records cannot be read.",
}

func headersOf(status int) map[string]*huma.Param {
	if status != http.StatusTooManyRequests && status != http.StatusServiceUnavailable {
		return nil
	}
	return map[string]*huma.Param{"Retry-After": {
		Description: "Seconds after which it is worth trying again.",
		Required:    true,
		Schema:      &huma.Schema{Type: huma.TypeInteger, Minimum: number(1)},
	}}
}

// finish puts the routes into the document, but for hidden ones, and the document
// among the routes.
func (d *document) finish(routes []route) ([]route, error) {
	own := route{operation: huma.Operation{
		OperationID: "openapi", Method: http.MethodGet, Path: "/openapi.json",
		Summary:   "Describe this interface",
		Responses: d.responses("This document.", &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}),
	}}
	routes = append(routes, own)
	for i := range routes {
		operation := &routes[i].operation
		if operation.Hidden {
			continue
		}
		operation.Parameters = append(operation.Parameters, &huma.Param{
			Name: requestIDHeader, In: "header",
			Description: "The caller's own name of the request; an empty one counts as none.",
			Schema:      &huma.Schema{Type: huma.TypeString, Pattern: requestIDPattern},
		})
		d.api.AddOperation(operation)
	}
	d.refine()
	handler, err := fixed(d.api)
	if err != nil {
		return nil, fmt.Errorf("encode the OpenAPI document: %w", err)
	}
	routes[len(routes)-1].handler = handler
	return routes, nil
}
