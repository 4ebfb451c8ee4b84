//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"cloche/internal/api"
	"cloche/internal/config"
	"cloche/internal/metrics/metricstest"
	"cloche/internal/service"
	"cloche/internal/snippet"
)

// surface starts an HTTP server as serve does, with a handler that runs nothing.
func surface(t *testing.T, change func(*http.Server)) (addr string, log *logBuffer) {
	t.Helper()
	l, err := listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	log = &logBuffer{}
	handler, err := api.New(api.Config{
		Service: service.New(service.Config{Runner: noRunner{}}), Reader: &metricstest.Memory{},
		Runtime: func() snippet.Runtime { return snippet.Runtime{} },
	})
	if err != nil {
		t.Fatal(err)
	}
	srv := newHTTPServer(handler, time.Second, slog.New(slog.NewTextHandler(log, nil)))
	if change != nil {
		change(srv)
	}
	places, err := bounded(srv, l, config.Config{Pool: 4, Concurrency: 8, Queue: 8}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = srv.Serve(places) }()
	t.Cleanup(func() { _ = srv.Close() })
	return l.Addr().String(), log
}

type noRunner struct{ service.Runner }

// What net/http answers before it asks any handler is a problem document, with
// the headers of all our answers, and is the end of the connection.
func TestAnswersBeforeAnyHandler(t *testing.T) {
	addr, _ := surface(t, nil)
	const host = "Host: localhost\r\n"
	for name, test := range map[string]struct {
		request string
		status  int
	}{
		"no HTTP at all":          {"hello\r\n\r\n", 400},
		"TLS":                     {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400},
		"no version":              {"GET /health\r\n" + host + "\r\n", 400},
		"bad version":             {"GET /health HTTP/x.y\r\n" + host + "\r\n", 400},
		"bad target":              {"GET health HTTP/1.1\r\n" + host + "\r\n", 400},
		"bad escape":              {"GET /%zz HTTP/1.1\r\n" + host + "\r\n", 400},
		"bad method":              {"G{}T /health HTTP/1.1\r\n" + host + "\r\n", 400},
		"no Host":                 {"GET /health HTTP/1.1\r\n\r\n", 400},
		"two Hosts":               {"GET /health HTTP/1.1\r\n" + host + host + "\r\n", 400},
		"bad Host":                {"GET /health HTTP/1.1\r\nHost: a b\r\n\r\n", 400},
		"bad name":                {"GET /health HTTP/1.1\r\n" + host + "a b: c\r\n\r\n", 400},
		"bad value":               {"GET /health HTTP/1.1\r\n" + host + "a: \x01\r\n\r\n", 400},
		"no colon":                {"GET /health HTTP/1.1\r\n" + host + "abc\r\n\r\n", 400},
		"bad length":              {"POST /execute HTTP/1.1\r\n" + host + "Content-Length: -1\r\n\r\n", 400},
		"two lengths":             {"POST /execute HTTP/1.1\r\n" + host + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", 400},
		"cut off":                 {"GET /health HTTP/1.1\r\nHo", 400},
		"large header":            {"GET /health HTTP/1.1\r\n" + host + "a: " + strings.Repeat("x", 2*headerBytes) + "\r\n\r\n", 431},
		"long target":             {"GET /" + strings.Repeat("x", 2*headerBytes) + " HTTP/1.1\r\n" + host + "\r\n", 431},
		"other transfer encoding": {"POST /execute HTTP/1.1\r\n" + host + "Transfer-Encoding: gzip\r\n\r\n", 501},
		"two transfer encodings":  {"POST /execute HTTP/1.1\r\n" + host + "Transfer-Encoding: gzip, chunked\r\n\r\n", 501},
		"HTTP 2":                  {"GET /health HTTP/2.0\r\n" + host + "\r\n", 505},
		"HTTP 3":                  {"GET /health HTTP/3.0\r\n" + host + "\r\n", 505},
		"expectation":             {"POST /execute HTTP/1.1\r\n" + host + "Expect: a-miracle\r\nContent-Length: 0\r\n\r\n", 417},
		"options of all":          {"OPTIONS * HTTP/1.1\r\n" + host + "Connection: close\r\n\r\n", 404},
		"preface of HTTP 2":       {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 403},
		"second of a connection":  {"GET /health HTTP/1.1\r\n" + host + "\r\nrubbish\r\n\r\n", 400},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := net.Dial("tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			_ = c.SetDeadline(time.Now().Add(20 * time.Second))
			if _, err := io.WriteString(c, test.request); err != nil {
				t.Fatal(err)
			}
			if name == "cut off" {
				_ = c.(*net.TCPConn).CloseWrite()
			}
			answers := allAnswers(t, c)
			if len(answers) == 0 {
				t.Fatal("no answer")
			}
			answers[len(answers)-1].isProblem(t, test.status)
		})
	}
}

// plainAnswer is an answer that was read to its end.
type plainAnswer struct {
	*http.Response
	body []byte
}

// allAnswers reads until the server closes the connection.
func allAnswers(t *testing.T, c net.Conn) (all []plainAnswer) {
	t.Helper()
	for in := bufio.NewReader(c); ; {
		if _, err := in.Peek(1); err == io.EOF {
			return all
		}
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, plainAnswer{resp, body})
	}
}

func (a plainAnswer) isProblem(t *testing.T, status int) {
	t.Helper()
	var p api.Problem
	if err := json.Unmarshal(a.body, &p); err != nil {
		t.Fatalf("status %d: %v: %.200s", a.StatusCode, err, a.body)
	}
	if a.StatusCode != status || p.Status != status || p.Title != http.StatusText(status) || p.Detail == "" || p.Errors == nil {
		t.Errorf("status %d, want %d: %s", a.StatusCode, status, a.body)
	}
	for name, want := range map[string]string{
		"Content-Type": "application/problem+json", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store",
		"Cross-Origin-Resource-Policy": "same-origin", "Referrer-Policy": "no-referrer",
	} {
		if got := a.Header.Get(name); got != want {
			t.Errorf("%s is %q", name, got)
		}
	}
	if !a.Close || a.Header.Get("Date") == "" {
		t.Errorf("closed %v, Date %q", a.Close, a.Header.Get("Date"))
	}
}

// A header that does not come in time is answered too; a connection that never
// said anything is closed without a word, as nothing was asked.
func TestHeadersThatDoNotCome(t *testing.T) {
	addr, _ := surface(t, func(srv *http.Server) {
		srv.ReadHeaderTimeout, srv.IdleTimeout = 100*time.Millisecond, 100*time.Millisecond
	})
	for request, want := range map[string][]int{
		"":          {},
		"GET /heal": {408},
		"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n":                 {200},
		"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\nGET /health HTTP": {200},
	} {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(20 * time.Second))
		if _, err := io.WriteString(c, request); err != nil {
			t.Fatal(err)
		}
		var got []int
		answers := allAnswers(t, c)
		for _, a := range answers {
			got = append(got, a.StatusCode)
			if a.StatusCode == 408 {
				a.isProblem(t, 408)
			}
		}
		if !slices.Equal(got[:min(len(got), len(want))], want) || len(want) == 0 && len(got) > 0 {
			t.Errorf("%q: answers %v, want %v", request, got, want)
		}
	}
}

// There is room for the sandbox beside the connections, whatever the limit is.
func TestConnectionsFitTheDescriptors(t *testing.T) {
	usual := config.Config{Pool: 4, Concurrency: 8, Queue: 512}
	for _, test := range []struct {
		descriptors uint64
		cfg         config.Config
		want        int
	}{
		{1024, usual, 1024 - 16*12 - 128},
		{1 << 20, usual, 2048},
		{1<<64 - 1, usual, 2048}, // no limit
		{1 << 20, config.Config{Pool: 4, Concurrency: 8, Queue: 5000}, 2 * 5008},
		{64, usual, 64 - 16*12 - 128}, // Bound takes connection.Least instead
	} {
		if got := connections(test.descriptors, test.cfg); got != test.want {
			t.Errorf("%d descriptors, %+v: %d connections, want %d", test.descriptors, test.cfg, got, test.want)
		}
	}
}

// Where fewer callers can wait than was asked for, the log says so.
func TestFewDescriptorsAreTold(t *testing.T) {
	l, err := listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for queue, told := range map[int]bool{10: false, 1 << 24: true} {
		var log logBuffer
		cfg := config.Config{Pool: 4, Concurrency: 8, Queue: queue}
		if _, err := bounded(&http.Server{}, l, cfg, slog.New(slog.NewTextHandler(&log, nil))); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(log.String(), "few descriptors") != told {
			t.Errorf("queue %d: log %q", queue, log.String())
		}
	}
}
