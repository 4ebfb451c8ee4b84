package api

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cloche/internal/snippet"
)

// openAPI is what the tests read of the document.
type openAPI struct {
	OpenAPI string
	Info    struct{ Title, Version string }
	Paths   map[string]map[string]struct {
		OperationID string
		Parameters  []struct{ Name, In string }
		Responses   map[string]struct {
			Headers map[string]any
			Content map[string]any
		}
	}
	Components struct{ Schemas map[string]schema }
}

type schema struct {
	Type                 any
	Properties           map[string]schema
	Required             []string
	AdditionalProperties any
	Enum                 []any
	Pattern              string
	MinLength, MaxLength *int
	MaxItems             *int
	Minimum, Maximum     *float64
	Default              any
}

func readDocument(t *testing.T, b *bench) (doc openAPI) {
	t.Helper()
	r := b.do(t, http.MethodGet, "/openapi.json", "")
	if err := json.Unmarshal(r.body, &doc); r.status != 200 || err != nil {
		t.Fatalf("status %d: %v", r.status, err)
	}
	return doc
}

func TestDocumentListsTheRoutes(t *testing.T) {
	b := serve(t, nil)
	doc := readDocument(t, b)
	if doc.OpenAPI != "3.1.0" || doc.Info.Version != "test" {
		t.Errorf("document of %+v, OpenAPI %s", doc.Info, doc.OpenAPI)
	}
	var listed []string
	for path, item := range doc.Paths {
		for method := range item {
			listed = append(listed, strings.ToUpper(method)+" "+path)
			if r := b.do(t, strings.ToUpper(method), path, ""); r.status == 404 || r.status == 405 {
				t.Errorf("%s %s is listed and answers %d", method, path, r.status)
			}
		}
	}
	slices.Sort(listed)
	want := []string{"GET /events", "GET /health", "GET /metrics", "GET /openapi.json", "GET /packages", "GET /policy", "POST /demo", "POST /execute"}
	if d := cmp.Diff(want, listed); d != "" {
		t.Errorf("routes (-want +got):\n%s", d)
	}
}

func TestDocumentListsTheAnswers(t *testing.T) {
	execute := readDocument(t, serve(t, nil)).Paths["/execute"]["post"]
	for _, status := range []string{"200", "400", "403", "408", "413", "415", "422", "429", "500", "503"} {
		answer, listed := execute.Responses[status]
		media := "application/problem+json"
		if status == "200" {
			media = "application/json"
		}
		if !listed || answer.Content[media] == nil || len(answer.Content) != 1 {
			t.Errorf("status %s: listed %v, content %v", status, listed, answer.Content)
		}
		if _, retry := answer.Headers["Retry-After"]; retry != (status == "429" || status == "503") {
			t.Errorf("status %s: Retry-After %v", status, retry)
		}
	}
	if p := execute.Parameters; len(p) != 1 || p[0].Name != "X-Request-Id" || p[0].In != "header" {
		t.Errorf("parameters %v", p)
	}
}

func TestDocumentShowsTheLimits(t *testing.T) {
	schemas := readDocument(t, serve(t, nil)).Components.Schemas
	request, file := schemas["ExecuteRequest"], schemas["FileItem"]
	if request.AdditionalProperties != false || file.AdditionalProperties != false {
		t.Error("unknown fields are not refused")
	}
	if d := cmp.Diff([]string{"code"}, request.Required); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"path", "content"}, file.Required); d != "" {
		t.Error(d)
	}
	timeout := request.Properties["timeout_ms"]
	for name, pair := range map[string][2]any{
		"code":            {*request.Properties["code"].MaxLength, snippet.MaxCode},
		"stdin":           {*request.Properties["stdin"].MaxLength, snippet.MaxStdin},
		"files":           {*request.Properties["files"].MaxItems, snippet.MaxFiles},
		"path":            {*file.Properties["path"].MaxLength, snippet.MaxPath},
		"path form":       {file.Properties["path"].Pattern, snippet.PathPattern},
		"timeout least":   {*timeout.Minimum, float64(snippet.MinTimeout.Milliseconds())},
		"timeout most":    {*timeout.Maximum, float64(snippet.MaxTimeout.Milliseconds())},
		"timeout default": {timeout.Default, float64(snippet.DefaultTimeout.Milliseconds())},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: the document says %v, the rule %v", name, pair[0], pair[1])
		}
	}
	code := regexp.MustCompile(request.Properties["code"].Pattern)
	for text, want := range map[string]bool{"1": true, " 1\n": true, "#": true, " \n": false, "\ufeff": false, "1\x00": false, "\x001": false} {
		if code.MatchString(text) != want {
			t.Errorf("the pattern of code on %q", text)
		}
	}
}

func TestDocumentOfAnswers(t *testing.T) {
	schemas := readDocument(t, serve(t, nil)).Components.Schemas
	result := schemas["Result"].Properties
	if got := len(result["reason"].Enum); got != len(snippet.Reasons()) {
		t.Errorf("%d reasons", got)
	}
	if len(schemas["Result"].Required) != len(result) {
		t.Error("something of a result may be missing")
	}
	for name, want := range map[string]any{
		"blocked": "array", "files": "array", "stdout": "string",
		"error": []any{"object", "null"}, "value": []any{"string", "null"}, "exit_code": []any{"integer", "null"},
	} {
		if d := cmp.Diff(want, result[name].Type); d != "" {
			t.Errorf("type of %s: %s", name, d)
		}
	}
	if got := result["error"].Properties; got["traceback"].Type != "string" || len(got) != 4 {
		t.Errorf("error has %v", got)
	}
	load := schemas["Metrics"].Properties["load"]
	if d := cmp.Diff([]any{"object", "null"}, load.Type); d != "" || load.Properties["in_flight"].Type != "integer" || len(load.Properties) != 5 {
		t.Errorf("load is %+v %s", load, d)
	}
}

// What the routes answer has the shape that the document promises.
func TestAnswersHaveTheirShape(t *testing.T) {
	b := serve(t, nil)
	schemas := readDocument(t, b).Components.Schemas
	for name, r := range map[string]reply{
		"Result": b.post(t, `{"code":"1"}`), "Problem": b.post(t, `{}`),
		"Health": b.do(t, "GET", "/health", ""), "Policy": b.do(t, "GET", "/policy", ""), "Packages": b.do(t, "GET", "/packages", ""),
		"Metrics": b.do(t, "GET", "/metrics", ""), "Page": b.do(t, "GET", "/events", ""), "DemoReport": b.do(t, "POST", "/demo", ""),
	} {
		var got map[string]any
		if err := json.Unmarshal(r.body, &got); err != nil {
			t.Fatal(err)
		}
		for _, key := range schemas[name].Required {
			if _, ok := got[key]; !ok {
				t.Errorf("%s lacks %s", name, key)
			}
		}
		if len(got) != len(schemas[name].Properties) {
			t.Errorf("%s has %d keys, the schema %d", name, len(got), len(schemas[name].Properties))
		}
	}
}
