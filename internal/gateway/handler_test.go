package gateway

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// event is one of a REST API for POST /execute, with some of its keys changed.
func event(t *testing.T, change map[string]any) []byte {
	t.Helper()
	e := map[string]any{
		"resource": "/execute", "path": "/execute", "httpMethod": "POST",
		"headers":           map[string]string{"Content-Type": "application/json"},
		"multiValueHeaders": map[string][]string{"Content-Type": {"application/json"}},
		"requestContext": map[string]any{
			"stage": "live", "path": "/live/execute", "domainName": "id.execute-api.example.com",
			"identity": map[string]any{"sourceIp": "192.0.2.10"},
		},
		"body": `{"code": "1"}`, "isBase64Encoded": false,
	}
	for key, value := range change {
		e[key] = value
	}
	payload, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return payload
}

// response is what Lambda hands to API Gateway.
type response struct {
	StatusCode        int
	MultiValueHeaders http.Header
	Body              string
	IsBase64Encoded   bool
}

func invoke(t *testing.T, h http.Handler, payload []byte) (response, string) {
	t.Helper()
	var log bytes.Buffer
	body, err := New(h, slog.New(slog.NewJSONHandler(&log, nil))).Invoke(t.Context(), payload)
	if err != nil {
		t.Fatalf("an error for Lambda: %v", err)
	}
	var r response
	if err := json.Unmarshal(body, &r); err != nil {
		t.Fatalf("%v: %.200s", err, body)
	}
	return r, log.String()
}

func isProblem(t *testing.T, r response, status int) {
	t.Helper()
	var p map[string]any
	err := json.Unmarshal([]byte(r.Body), &p)
	if err != nil || r.StatusCode != status || r.MultiValueHeaders.Get("Content-Type") != "application/problem+json" ||
		p["status"] != float64(status) || p["type"] != "about:blank" || p["title"] == "" || p["detail"] == "" || p["errors"] == nil {
		t.Errorf("not a problem document for %d: %+v", status, r)
	}
}

// asked answers with what the handler was asked.
func asked(into *http.Request, body *string) http.Handler {
	return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		*into = *r
		all, _ := io.ReadAll(r.Body)
		*body = string(all)
	})
}

func TestRequest(t *testing.T) {
	for name, test := range map[string]struct {
		change map[string]any
		check  func(r *http.Request, body string) bool
	}{
		"plain": {nil, func(r *http.Request, body string) bool {
			return r.Method == "POST" && r.URL.Path == "/execute" && r.Host == "id.execute-api.example.com" &&
				body == `{"code": "1"}` && r.ContentLength == int64(len(body)) && r.RequestURI == "/execute"
		}},
		"base64": {map[string]any{"body": base64.StdEncoding.EncodeToString([]byte("\xff\x00é")), "isBase64Encoded": true}, func(_ *http.Request, body string) bool {
			return body == "\xff\x00é"
		}},
		"null body": {map[string]any{"body": nil}, func(r *http.Request, body string) bool { return body == "" && r.ContentLength == 0 }},
		"stage in the path": {map[string]any{"path": "/live/execute"}, func(r *http.Request, _ string) bool {
			return r.URL.Path == "/execute"
		}},
		"base path of a domain": {map[string]any{"path": "/tools/v1/execute"}, func(r *http.Request, _ string) bool {
			return r.URL.Path == "/execute"
		}},
		"route with a variable": {map[string]any{"resource": "/{proxy+}", "path": "/live/x"}, func(r *http.Request, _ string) bool {
			return r.URL.Path == "/live/x"
		}},
		"variable below a base path": {map[string]any{
			"resource": "/dashboard/{file}", "path": "/v1/dashboard/dashboard.js", "pathParameters": map[string]string{"file": "dashboard.js"},
		}, func(r *http.Request, _ string) bool { return r.URL.Path == "/dashboard/dashboard.js" }},
		"variable with slashes": {map[string]any{
			"resource": "/{proxy+}", "path": "/v1/a/b", "pathParameters": map[string]string{"proxy": "a/b"},
		}, func(r *http.Request, _ string) bool { return r.URL.Path == "/a/b" }},
		"escaped variable": {map[string]any{
			"resource": "/dashboard/{file}", "path": "/v1/dashboard/a b?c", "pathParameters": map[string]string{"file": "a%20b%3Fc"},
		}, func(r *http.Request, _ string) bool {
			return r.URL.Path == "/dashboard/a b?c" && r.URL.RawQuery == ""
		}},
		"variable that is not in the path": {map[string]any{
			"resource": "/dashboard/{file}", "path": "/v1/dashboard/x", "pathParameters": map[string]string{"file": "../execute"},
		}, func(r *http.Request, _ string) bool { return r.URL.Path == "/v1/dashboard/x" }},
		"variable that looks like one": {map[string]any{
			"resource": "/dashboard/{file}", "path": "/v1/dashboard/{file}", "pathParameters": map[string]string{"file": "{file}"},
		}, func(r *http.Request, _ string) bool { return r.URL.Path == "/dashboard/{file}" }},
		"variable with a stray percent sign": {map[string]any{
			"resource": "/dashboard/{file}", "path": "/v1/dashboard/%zz", "pathParameters": map[string]string{"file": "%zz"},
		}, func(r *http.Request, _ string) bool { return r.URL.Path == "/dashboard/%zz" }},
		"question mark in the path": {map[string]any{"resource": "", "path": "/a?b=c#d"}, func(r *http.Request, _ string) bool {
			return r.URL.Path == "/a?b=c#d" && r.URL.RawQuery == ""
		}},
		"stray percent sign in the path": {map[string]any{"resource": "", "path": "/%zz/%"}, func(r *http.Request, _ string) bool {
			return r.URL.Path == "/%zz/%"
		}},
		"line feed in the path": {map[string]any{"resource": "", "path": "/a\nb"}, func(r *http.Request, _ string) bool {
			return r.URL.Path == "/a\nb"
		}},
		"no slash": {map[string]any{"resource": "", "path": "execute"}, func(r *http.Request, _ string) bool {
			return r.URL.Path == "/execute"
		}},
		"query": {map[string]any{"multiValueQueryStringParameters": map[string][]string{"a": {"1", "%zz"}, "b&": {"é"}}}, func(r *http.Request, _ string) bool {
			q := r.URL.Query()
			return cmp.Equal(q["a"], []string{"1", "%zz"}) && q.Get("b&") == "é"
		}},
		"single query": {map[string]any{"queryStringParameters": map[string]string{"a": "1 2"}}, func(r *http.Request, _ string) bool {
			return r.URL.Query().Get("a") == "1 2"
		}},
		"repeated headers": {map[string]any{"multiValueHeaders": map[string][]string{"x-many": {"1", "2, 3"}}}, func(r *http.Request, _ string) bool {
			return cmp.Equal(r.Header["X-Many"], []string{"1", "2, 3"}) && r.Header.Get("Content-Type") == "application/json"
		}},
		"empty form of headers": {map[string]any{"multiValueHeaders": map[string][]string{}}, func(r *http.Request, _ string) bool {
			return r.Header.Get("Content-Type") == "application/json"
		}},
		"no headers": {map[string]any{"headers": nil, "multiValueHeaders": nil}, func(r *http.Request, _ string) bool {
			return len(r.Header) == 0
		}},
		"context from outside": {map[string]any{"headers": map[string]string{
			"x-golambdaproxy-apigw-context": `{"accountId":"1"}`, "X-GoLambdaProxy-ApiGw-StageVars": "{}", "X-GoLambdaProxy-Later": "1",
			"Host": "h", "Content-Length": "9", "Transfer-Encoding": "chunked", "Expect": "100-continue", "Connection": "close",
		}, "multiValueHeaders": nil}, func(r *http.Request, _ string) bool { return len(r.Header) == 0 }},
		"address": {nil, func(r *http.Request, _ string) bool {
			host, _, err := net.SplitHostPort(r.RemoteAddr)
			return err == nil && host == "192.0.2.10"
		}},
		"address of IPv6": {map[string]any{"requestContext": map[string]any{"identity": map[string]any{"sourceIp": "2001:db8::1"}}}, func(r *http.Request, _ string) bool {
			return r.RemoteAddr == "[2001:db8::1]:0"
		}},
		"no address": {map[string]any{"requestContext": map[string]any{"identity": map[string]any{"sourceIp": "test-invoke-source-ip"}}}, func(r *http.Request, _ string) bool {
			return r.RemoteAddr == ""
		}},
		"host from the header": {map[string]any{"requestContext": nil, "headers": map[string]string{"Host": "localhost:3000"}}, func(r *http.Request, _ string) bool {
			return r.Host == "localhost:3000" && r.Header.Get("Host") == ""
		}},
		"host that is none": {map[string]any{"requestContext": map[string]any{"domainName": "a/b?c"}}, func(r *http.Request, _ string) bool {
			return r.Host == "" && r.URL.Path == "/execute"
		}},
		"no method": {map[string]any{"httpMethod": ""}, func(r *http.Request, _ string) bool { return r.Method == "GET" }},
	} {
		t.Run(name, func(t *testing.T) {
			var r http.Request
			var body string
			if got, _ := invoke(t, asked(&r, &body), event(t, test.change)); got.StatusCode != 200 || !test.check(&r, body) {
				t.Errorf("status %d, %s %s from %q to %q, headers %v, body %q", got.StatusCode, r.Method, r.URL, r.RemoteAddr, r.Host, r.Header, body)
			}
		})
	}
}

func TestBadEvents(t *testing.T) {
	never := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the handler was asked") })
	for name, payload := range map[string][]byte{
		"bad base64":             event(t, map[string]any{"body": "!!", "isBase64Encoded": true}),
		"method with a space":    event(t, map[string]any{"httpMethod": "GET /"}),
		"method with line feeds": event(t, map[string]any{"httpMethod": "GET\r\nX: y"}),
		"line feed in a header":  event(t, map[string]any{"headers": map[string]string{"X": "a\r\nY: b"}}),
		"name of a header":       event(t, map[string]any{"headers": map[string]string{"X Y": "a"}}),
		"headers as a list":      event(t, map[string]any{"headers": []string{"a"}}),
		"body as an object":      event(t, map[string]any{"body": map[string]any{}}),
		"a list":                 []byte(`[]`),
		"a string":               []byte(`"x"`),
		"not JSON":               []byte(`{`),
		"nothing":                nil,
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := invoke(t, never, payload)
			isProblem(t, r, http.StatusBadRequest)
		})
	}
}

// An event without anything is a request for the root, as null is.
func TestEmptyEvent(t *testing.T) {
	for _, payload := range []string{`{}`, `null`} {
		if r, _ := invoke(t, http.NotFoundHandler(), []byte(payload)); r.StatusCode != http.StatusNotFound {
			t.Errorf("%s: status %d", payload, r.StatusCode)
		}
	}
}

func TestAnswer(t *testing.T) {
	binary := "\x89PNG\xff"
	for name, test := range map[string]struct {
		method string
		write  func(w http.ResponseWriter)
		want   response
	}{
		"silence": {"POST", func(http.ResponseWriter) {}, response{StatusCode: 200}},
		"second status": {"POST", func(w http.ResponseWriter) {
			w.WriteHeader(201)
			w.Header().Set("X-Late", "1")
			w.WriteHeader(500)
			_, _ = io.WriteString(w, "a")
		}, response{StatusCode: 201, Body: "a", MultiValueHeaders: http.Header{"Content-Type": {"text/plain; charset=utf-8"}}}},
		"announcement": {"POST", func(w http.ResponseWriter) { w.WriteHeader(103); w.WriteHeader(204) }, response{StatusCode: 204}},
		"body where none may be": {"POST", func(w http.ResponseWriter) {
			w.WriteHeader(204)
			if _, err := io.WriteString(w, "a"); err == nil {
				t.Error("it was taken")
			}
		}, response{StatusCode: 204}},
		"answer to HEAD": {"HEAD", func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/plain")
			_, _ = io.WriteString(w, "a")
		}, response{StatusCode: 200, MultiValueHeaders: http.Header{"Content-Type": {"text/plain"}}}},
		"binary": {"POST", func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "image/png")
			w.Header().Set("Content-Length", "5")
			_, _ = io.WriteString(w, binary)
		}, response{
			StatusCode: 200, IsBase64Encoded: true, Body: base64.StdEncoding.EncodeToString([]byte(binary)),
			MultiValueHeaders: http.Header{"Content-Type": {"image/png"}},
		}},
		"headers": {"POST", func(w http.ResponseWriter) {
			w.Header()["Set-Cookie"] = []string{"a=1; Expires=Wed, 01 Jan 2031", "b=2"}
			w.Header()["X-Split"] = []string{"a\r\nX-Forged: 1"}
			w.Header()["X-Bad"] = []string{"a\x00"}
			w.Header()["X Bad"] = []string{"a"}
			w.Header().Set("Connection", "close")
			w.WriteHeader(200)
		}, response{StatusCode: 200, MultiValueHeaders: http.Header{
			"Set-Cookie": {"a=1; Expires=Wed, 01 Jan 2031", "b=2"}, "X-Split": {"a X-Forged: 1"},
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { test.write(w) })
			got, log := invoke(t, h, event(t, map[string]any{"httpMethod": test.method}))
			if test.want.MultiValueHeaders == nil {
				test.want.MultiValueHeaders = http.Header{}
			}
			if d := cmp.Diff(test.want, got); d != "" || log != "" {
				t.Errorf("answer (-want +got):\n%s\nlog %s", d, log)
			}
		})
	}
}

func TestPanic(t *testing.T) {
	for name, test := range map[string]struct {
		fault any
		lines int
	}{
		"panic": {"bug", 1}, "half an answer": {http.ErrAbortHandler, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r, log := invoke(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("X-Half", "1")
				_, _ = io.WriteString(w, "half")
				panic(test.fault)
			}), event(t, nil))
			isProblem(t, r, http.StatusInternalServerError)
			if strings.Count(log, "\n") != test.lines || r.MultiValueHeaders.Get("X-Half") != "" {
				t.Errorf("headers %v, log %s", r.MultiValueHeaders, log)
			}
		})
	}
	r, log := invoke(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(0) }), event(t, nil))
	isProblem(t, r, http.StatusInternalServerError)
	if !strings.Contains(log, "status 0") {
		t.Errorf("log %s", log)
	}
}

func TestAnswerThatLambdaDoesNotTake(t *testing.T) {
	r, log := invoke(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat(`"`, maxResponse/2+1))
	}), event(t, nil))
	isProblem(t, r, http.StatusInternalServerError)
	if !strings.Contains(log, "encode answer") {
		t.Errorf("log %s", log)
	}
}

// The end of an invocation is for recording and answering: handlers see less.
func TestReserve(t *testing.T) {
	end := time.Now().Add(28 * time.Second)
	ctx, cancel := context.WithDeadline(t.Context(), end)
	defer cancel()
	var seen time.Time
	h := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen, _ = r.Context().Deadline() })
	if _, err := New(h, slog.New(slog.DiscardHandler)).Invoke(ctx, event(t, nil)); err != nil || !seen.Equal(end.Add(-reserve)) {
		t.Errorf("deadline %v, error %v", seen, err)
	}
}
