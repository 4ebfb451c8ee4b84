//go:build linux

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"cloche/internal/metrics"
	"cloche/internal/snippet"
)

func TestRemoteAddresses(t *testing.T) {
	for text, good := range map[string]bool{
		"http://127.0.0.1:8080": true, "https://cloche.example/stage/": true, "http://[::1]:1": true,
		"": false, "127.0.0.1:8080": false, "localhost:8080": false, "file:///etc/passwd": false,
		"http://": false, "http://a b": false, "http://a?x=1": false, "http://a#b": false, "unix:///run/x": false,
	} {
		if _, err := newRemote(text); (err == nil) != good {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// answering is a server that gives one answer to everything.
func answering(t *testing.T, status int, body string, header ...string) *remote {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	t.Cleanup(s.Close)
	r, err := newRemote(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What is no verdict, whatever it is, must not look like one.
func TestRemoteAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		header []string
		want   string
	}{
		"busy":        {429, `{"detail":"Try later."}`, []string{"Retry-After", "3"}, "status 429: Try later. (in 3 s)"},
		"hostile":     {422, `{"detail":"a\u001b[2Jb\ncloche: OK"}`, nil, "status 422: a\ufffd[2Jb\ufffdcloche: OK"},
		"not ours":    {404, "<html>", nil, "status 404"},
		"elsewhere":   {302, "", []string{"Location", "http://127.0.0.1:1/"}, "status 302"},
		"not JSON":    {200, "<html>", nil, "does not answer like a Cloche server"},
		"no verdict":  {200, "{}", nil, "answered without a verdict"},
		"a new one":   {200, `{"outcome":"FINE"}`, nil, "answered without a verdict"},
		"wrong types": {200, `{"outcome":5}`, nil, "does not answer like a Cloche server"},
		"no content":  {204, "", nil, "status 204"},
	} {
		r := answering(t, c.status, c.body, c.header...)
		result, err := r.Run(t.Context(), snippet.Request{Code: "1"})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %+v, error %v, want %q", name, result, err, c.want)
		}
	}
}

func TestRemoteEventsAreChecked(t *testing.T) {
	r := answering(t, 200, `{"events":[{"id":"a\u001b[2J"}],"next":""}`)
	if _, err := r.Events(t.Context(), metrics.Filter{}); err == nil || !strings.Contains(err.Error(), "does not know") {
		t.Errorf("error %v", err)
	}
	if _, err := answering(t, 200, `{}`).Demo(t.Context()); err == nil {
		t.Error("a demo without a case")
	}
}
