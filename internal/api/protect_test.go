package api

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"cloche/internal/service"
)

func TestRoutesRefuseTheRest(t *testing.T) {
	b := serve(t, nil)
	for _, test := range []struct {
		method, path string
		status       int
		allow        string
	}{
		{"GET", "/execute", 405, "POST"},
		{"HEAD", "/execute", 405, "POST"},
		{"PUT", "/execute", 405, "POST"},
		{"OPTIONS", "/execute", 405, "POST"},
		{"POST", "/health", 405, "GET, HEAD"},
		{"DELETE", "/policy", 405, "GET, HEAD"},
		{"TRACE", "/openapi.json", 405, "GET, HEAD"},
		{"BREW", "/health", 405, "GET, HEAD"},
		{"GET", "/", 404, ""},
		{"GET", "/docs", 404, ""},
		{"GET", "/schemas/Result.json", 404, ""},
		{"GET", "/openapi.yaml", 404, ""},
		{"POST", "/execute/", 404, ""},
		{"GET", "/health/../../etc/passwd%00", 404, ""},
	} {
		req, err := http.NewRequestWithContext(t.Context(), test.method, b.URL+test.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := b.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		r := readReply(t, resp)
		if r.status != test.status || r.header.Get("Allow") != test.allow {
			t.Errorf("%s %s: status %d, Allow %q", test.method, test.path, r.status, r.header.Get("Allow"))
		}
		if test.method != "HEAD" {
			r.problem(t)
		}
	}
}

// What net/http's own mux would answer by a redirect, or by a status without a
// text, is a problem too. Nothing but the path as it came decides.
func TestOddTargets(t *testing.T) {
	b := serve(t, nil)
	b.Config.DisableGeneralOptionsHandler = true
	for line, want := range map[string]int{
		"GET //health": 404, "GET /x/../health": 404, "GET /./health": 404, "POST //execute": 404, "GET /health/": 404,
		"OPTIONS *": 404, "GET *": 404, "CONNECT localhost:80": 404, "GET http://localhost//health": 404,
		"GET /%68ealth": 200, "GET http://localhost/health": 200, "OPTIONS /health": 405,
	} {
		c := b.dial(t)
		c.send(t, line+" HTTP/1.1\r\nHost: localhost\r\n\r\n")
		r := c.reply(t)
		if r.status != want || r.header.Get("Location") != "" {
			t.Errorf("%s: status %d, Location %q", line, r.status, r.header.Get("Location"))
		}
		if want != 200 {
			r.problem(t)
		}
	}
}

func TestHead(t *testing.T) {
	b := serve(t, nil)
	for _, path := range []string{"/health", "/policy", "/openapi.json"} {
		got, want := b.do(t, "HEAD", path, ""), b.do(t, "GET", path, "")
		if got.status != 200 || len(got.body) != 0 || got.header.Get("Content-Length") != want.header.Get("Content-Length") {
			t.Errorf("%s: status %d, %d bytes, %v", path, got.status, len(got.body), got.header)
		}
	}
}

func TestHosts(t *testing.T) {
	loopback := []string{"localhost", "LOCALHOST:8080", "localhost.", "127.0.0.1", "127.0.0.1:80", "127.8.9.1", "[::1]", "[::1]:8080"}
	strange := []string{
		"evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example", "127.0.0.1@evil.example",
		"xlocalhost", "0.0.0.0", "10.0.0.1", "[::]", "2130706433", "0x7f.1", "cloche.test",
	}
	local := serve(t, nil)
	named := serve(t, func(_ *service.Config, c *Config) { c.AllowedHosts = []string{"cloche.test"} })
	anyName := serve(t, func(_ *service.Config, c *Config) { c.AllowedHosts = []string{"*"} })
	for _, host := range append(loopback, strange...) {
		want := 403
		for _, good := range loopback {
			if host == good {
				want = 200
			}
		}
		if r := local.post(t, `{"code":"1"}`, "Host", host); r.status != want {
			t.Errorf("Host %s: status %d", host, r.status)
		}
		if r := anyName.post(t, `{"code":"1"}`, "Host", host); r.status != 200 {
			t.Errorf("Host %s where all are allowed: status %d", host, r.status)
		}
	}
	if r := named.post(t, `{"code":"1"}`, "Host", "Cloche.test:443"); r.status != 200 {
		t.Errorf("an allowed host: status %d", r.status)
	}
	if r := named.do(t, "GET", "/health", "", "Host", "evil.example"); r.status != 403 || r.problem(t).Detail == "" {
		t.Errorf("a strange host beside an allowed one: status %d", r.status)
	}
	if n := len(local.runner.ran()); n != len(loopback) {
		t.Errorf("%d runs for %d good hosts", n, len(loopback))
	}
}

func TestNoHost(t *testing.T) {
	b := serve(t, nil)
	c := b.dial(t)
	c.send(t, "GET /health HTTP/1.0\r\n\r\n")
	if r := c.reply(t); r.status != 403 {
		t.Errorf("status %d", r.status)
	}
}

func TestOrigins(t *testing.T) {
	for name, test := range map[string]struct {
		header []string
		status int
	}{
		"other page":      {[]string{"Origin", "https://evil.example"}, 403},
		"opaque page":     {[]string{"Origin", "null"}, 403},
		"other port":      {[]string{"Origin", "http://127.0.0.1:1"}, 403},
		"browser says so": {[]string{"Sec-Fetch-Site", "cross-site"}, 403},
		"sibling":         {[]string{"Sec-Fetch-Site", "same-site"}, 403},
		"own page":        {[]string{"Sec-Fetch-Site", "same-origin"}, 200},
		"address bar":     {[]string{"Sec-Fetch-Site", "none"}, 200},
		"no browser":      {nil, 200},
	} {
		b := serve(t, nil)
		r := b.post(t, `{"code":"1"}`, test.header...)
		if ran := len(b.runner.ran()) == 1; r.status != test.status || ran != (test.status == 200) {
			t.Errorf("%s: status %d, ran %v", name, r.status, ran)
		}
		if r.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: the answer may be read by any page", name)
		}
	}
}

func TestRequestID(t *testing.T) {
	b := serve(t, nil)
	for _, id := range []string{"a", "0-9.A_z:1", strings.Repeat("x", 128), ""} {
		r := b.post(t, `{"code":"1"}`, "X-Request-Id", id)
		if r.status != 200 || r.header.Get("X-Request-Id") != id {
			t.Errorf("%q: status %d, echoed %q", id, r.status, r.header.Get("X-Request-Id"))
		}
	}
	if !strings.Contains(b.log.String(), `"request_id":"0-9.A_z:1"`) {
		t.Error("the id is not in the log")
	}
	c := b.dial(t)
	c.send(t, "GET /health HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: a\r\nX-Request-Id: b\r\n\r\n")
	if r := c.reply(t); r.status != 422 || r.header.Get("X-Request-Id") != "" {
		t.Errorf("two ids: status %d, echoed %q", r.status, r.header.Get("X-Request-Id"))
	}
}

func TestSafeHeaders(t *testing.T) {
	b := serve(t, nil)
	for _, r := range []reply{b.do(t, "GET", "/health", ""), b.do(t, "GET", "/nothing", ""), b.post(t, "{"), b.post(t, `{"code":"1"}`)} {
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got := r.header.Get(name); got != want {
				t.Errorf("status %d: %s is %q", r.status, name, got)
			}
		}
		if r.header.Get("Link") != "" || strings.Contains(string(r.body), "$schema") {
			t.Errorf("status %d: a link to a schema", r.status)
		}
	}
}

// A panic after the answer began must not look like a complete answer.
func TestPanicAfterTheAnswerBegan(t *testing.T) {
	s := &server{log: slog.New(slog.DiscardHandler)}
	b := httptest.NewServer(s.recovering(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "half")
		w.(http.Flusher).Flush()
		panic("a bug")
	})))
	defer b.Close()
	resp, err := http.Get(b.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if body, err := io.ReadAll(resp.Body); err == nil || string(body) != "half" {
		t.Errorf("read %q, error %v", body, err)
	}
}

func TestNewNeedsItsParts(t *testing.T) {
	if _, err := New(Config{}); err == nil {
		t.Error("no error for an empty Config")
	}
}
