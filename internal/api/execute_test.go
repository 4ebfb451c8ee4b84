package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"cloche/internal/metrics"
	"cloche/internal/service"
	"cloche/internal/snippet"
)

func TestExecute(t *testing.T) {
	b := serve(t, nil)
	r := b.post(t, `{"code":"print('漢')","timeout_ms":1500,"stdin":"in","files":[{"path":"a/b","content":"eA==","encoding":"base64"}]}`)
	if r.status != 200 || r.header.Get("Content-Type") != "application/json" || r.header.Get("Content-Length") != fmt.Sprint(len(r.body)) {
		t.Fatalf("status %d, headers %v", r.status, r.header)
	}
	var got map[string]any
	if err := json.Unmarshal(r.body, &got); err != nil || !utf8.Valid(r.body) {
		t.Fatal(err)
	}
	if got["outcome"] != "OK" || got["stdout"] != "print('漢')" || got["exit_code"] != 0.0 {
		t.Errorf("answer %s", r.body)
	}
	jobs := b.runner.ran()
	if len(jobs) != 1 || jobs[0].Request.Timeout != 1500*time.Millisecond || jobs[0].Request.Stdin != "in" ||
		string(jobs[0].Request.Files[0].Content) != "x" || jobs[0].ID != got["id"] {
		t.Errorf("job %+v", jobs)
	}
}

// Every outcome has every key, lists are lists and text is text.
func TestExecuteShape(t *testing.T) {
	for _, reason := range snippet.Reasons() {
		b := serve(t, nil)
		b.runner.answer = func(context.Context, snippet.Job) (snippet.Result, error) {
			return snippet.Result{Outcome: reason.Outcome(), Reason: reason, Stderr: "\xff\x00\u2028</script>\U0001F600"}, nil
		}
		r := b.post(t, `{"code":"1"}`)
		var got map[string]json.RawMessage
		if err := json.Unmarshal(r.body, &got); r.status != 200 || err != nil || !utf8.Valid(r.body) {
			t.Fatalf("%s: status %d, %v", reason, r.status, err)
		}
		if len(got) != 21 || string(got["blocked"]) != "[]" || string(got["files"]) != "[]" || string(got["error"]) != "null" || string(got["stdout"]) != `""` {
			t.Errorf("%s: %d keys: %s", reason, len(got), r.body)
		}
		var text string
		if err := json.Unmarshal(got["stderr"], &text); err != nil || text != "\ufffd\x00\u2028</script>\U0001F600" {
			t.Errorf("%s: stderr %q, %v", reason, text, err)
		}
	}
}

func TestExecuteRefuses(t *testing.T) {
	big := `{"code":"` + strings.Repeat("#", 60_000_000) + `"}`
	for name, test := range map[string]struct {
		body   string
		header []string
		status int
		field  string
	}{
		"not JSON":          {"{", nil, 400, ""},
		"no object":         {"[]", nil, 400, ""},
		"duplicate":         {`{"code":"1","code":"2"}`, nil, 400, ""},
		"trailing":          {`{"code":"1"} x`, nil, 400, ""},
		"brackets":          {`{"code":"1","x":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + "}", nil, 400, ""},
		"surrogate":         {`{"code":"\ud83d"}`, nil, 400, ""},
		"NaN":               {`{"code":"1","timeout_ms":NaN}`, nil, 400, ""},
		"60 MB":             {big, nil, 413, ""},
		"unknown field":     {`{"code":"1","cwd":"/"}`, nil, 422, "cwd"},
		"wrong type":        {`{"code":1}`, nil, 422, "code"},
		"blank":             {`{"code":" "}`, nil, 422, "code"},
		"long code":         {`{"code":"` + strings.Repeat("#", snippet.MaxCode+1) + `"}`, nil, 422, "code"},
		"path":              {`{"code":"1","files":[{"path":"a","content":""},{"path":"b","content":""},{"path":"../x","content":""}]}`, nil, 422, "files[2].path"},
		"base64":            {`{"code":"1","files":[{"path":"a","content":"!","encoding":"base64"}]}`, nil, 422, "files[0].content"},
		"huge number":       {`{"code":"1","timeout_ms":1e300}`, nil, 422, "timeout_ms"},
		"XML":               {`{"code":"1"}`, []string{"Content-Type", "application/xml"}, 415, ""},
		"text":              {`{"code":"1"}`, []string{"Content-Type", "text/plain"}, 415, ""},
		"form":              {"code=print(1)", []string{"Content-Type", "application/x-www-form-urlencoded"}, 415, ""},
		"multipart":         {`{"code":"1"}`, []string{"Content-Type", "multipart/form-data; boundary=x"}, 415, ""},
		"no type":           {`{"code":"1"}`, []string{"Content-Type", ""}, 415, ""},
		"broken type":       {`{"code":"1"}`, []string{"Content-Type", "application/json; charset"}, 415, ""},
		"other charset":     {`{"code":"1"}`, []string{"Content-Type", "application/json; charset=utf-16"}, 415, ""},
		"compressed":        {`{"code":"1"}`, []string{"Content-Encoding", "gzip"}, 415, ""},
		"long request id":   {`{"code":"1"}`, []string{"X-Request-Id", strings.Repeat("a", 129)}, 422, "X-Request-Id"},
		"odd request id":    {`{"code":"1"}`, []string{"X-Request-Id", "a b"}, 422, "X-Request-Id"},
		"request id, UTF-8": {`{"code":"1"}`, []string{"X-Request-Id", "é"}, 422, "X-Request-Id"},
	} {
		t.Run(name, func(t *testing.T) {
			b := serve(t, nil)
			began := time.Now()
			r := b.post(t, test.body, test.header...)
			if r.status != test.status {
				t.Fatalf("status %d, want %d: %.300s", r.status, test.status, r.body)
			}
			if fields := r.fields(t); strings.Join(fields, " ") != test.field {
				t.Errorf("fields %v, want %s", fields, test.field)
			}
			if len(b.runner.ran()) != 0 || time.Since(began) > 30*time.Second {
				t.Errorf("ran %d, took %v", len(b.runner.ran()), time.Since(began))
			}
			if r := b.post(t, `{"code":"1"}`); r.status != 200 {
				t.Errorf("next request: status %d", r.status)
			}
		})
	}
}

func TestExecuteTakesCharset(t *testing.T) {
	b := serve(t, nil)
	for _, media := range []string{"application/json; charset=utf-8", "Application/JSON;charset=\"UTF-8\"", "application/json; version=1"} {
		if r := b.post(t, `{"code":"1"}`, "Content-Type", media); r.status != 200 {
			t.Errorf("%s: status %d", media, r.status)
		}
	}
}

// The largest request that the limits allow fits into a body.
func TestExecuteTakesTheLargest(t *testing.T) {
	b := serve(t, nil)
	files := make([]string, snippet.MaxFiles)
	for i := range files {
		path := strings.Repeat(strings.Repeat("p", 255)+"/", 15) + fmt.Sprintf("%0255d", i)
		files[i] = fmt.Sprintf(`{"path":%q,"encoding":"base64","content":%q}`, path, strings.Repeat("A", snippet.MaxFilesBytes/snippet.MaxFiles/3*4))
	}
	body := fmt.Sprintf(`{"code":"%s","stdin":"%s","files":[%s]}`, strings.Repeat(`\u0041`, snippet.MaxCode),
		strings.Repeat(`\u0000`, snippet.MaxStdin), strings.Join(files, ","))
	if r := b.post(t, body); r.status != 200 {
		t.Fatalf("%d bytes: status %d: %.300s", len(body), r.status, r.body)
	}
}

func TestExecuteFaults(t *testing.T) {
	for name, test := range map[string]struct {
		answer func(context.Context, snippet.Job) (snippet.Result, error)
		status int
		retry  bool
		logged string
	}{
		"no sandbox": {func(context.Context, snippet.Job) (snippet.Result, error) {
			return snippet.Result{}, fmt.Errorf("start template: %w", snippet.ErrUnavailable)
		}, 503, true, "start template"},
		"sandbox broke": {func(context.Context, snippet.Job) (snippet.Result, error) {
			return snippet.Result{}, errors.New("pipe broke")
		}, 200, false, "pipe broke"},
		"panic": {func(context.Context, snippet.Job) (snippet.Result, error) { panic("a bug") }, 500, false, "a bug"},
		"no JSON form": {func(context.Context, snippet.Job) (snippet.Result, error) {
			return snippet.Result{Outcome: snippet.OK, Reason: snippet.Completed, CPUMS: math.NaN()}, nil
		}, 500, false, "NaN"},
	} {
		t.Run(name, func(t *testing.T) {
			b := serve(t, func(s *service.Config, _ *Config) { s.Recorder = nil })
			b.runner.answer = test.answer
			r := b.post(t, `{"code":"1"}`, "X-Request-Id", "r-1")
			if r.status != test.status || (r.header.Get("Retry-After") != "") != test.retry || r.header.Get("X-Request-Id") != "r-1" {
				t.Fatalf("status %d, headers %v", r.status, r.header)
			}
			if test.status != 200 && (len(r.fields(t)) != 0 || strings.Contains(string(r.body), test.logged)) {
				t.Errorf("the answer tells the cause: %s", r.body)
			}
			if n := strings.Count(b.log.String(), `"level":"ERROR"`); n != 1 || !strings.Contains(b.log.String(), test.logged) {
				t.Errorf("%d errors in the log: %.500s", n, b.log)
			}
			if b.runner.answer = nil; b.post(t, `{"code":"1"}`).status != 200 || b.service.Load().InFlight != 0 {
				t.Errorf("not as before: load %+v", b.service.Load())
			}
		})
	}
}

type failing struct{}

func (failing) Record(context.Context, metrics.Event) error { return errors.New("disk full") }

func TestHealth(t *testing.T) {
	b := serve(t, func(s *service.Config, _ *Config) { s.Recorder = failing{} })
	for _, want := range []string{
		`{"live":true,"version":"test","python":"3.12.1","layers":[{"name":"seccomp","active":true,"detail":"","means":""}],"recording":"ok"}`,
		`{"live":true,"version":"test","python":"3.12.1","layers":[{"name":"seccomp","active":true,"detail":"","means":""}],"recording":"failing"}`,
	} {
		if r := b.do(t, http.MethodGet, "/health", ""); r.status != 200 || string(r.body) != want {
			t.Errorf("status %d: %s", r.status, r.body)
		}
		if r := b.post(t, `{"code":"1"}`); r.status != 200 {
			t.Errorf("run without a record: status %d", r.status)
		}
	}
}

func TestPolicy(t *testing.T) {
	b := serve(t, nil)
	var got snippet.Policy
	r := b.do(t, http.MethodGet, "/policy", "")
	if err := json.Unmarshal(r.body, &got); err != nil || !got.Denies("os") || got.Denies("json") {
		t.Errorf("status %d, %v: %.200s", r.status, err, r.body)
	}
}
