package api

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"cloche/internal/service"
	"cloche/internal/snippet"
)

func TestChunkedByteByByte(t *testing.T) {
	b := serve(t, nil)
	c := b.dial(t)
	c.send(t, head+"Transfer-Encoding: chunked\r\n\r\n")
	for _, ch := range []byte(`{"code": "print(1)"}`) {
		c.send(t, fmt.Sprintf("1\r\n%c\r\n", ch))
	}
	c.send(t, "0\r\n\r\n")
	if r := c.reply(t); r.status != 200 || !strings.Contains(string(r.body), `"stdout":"print(1)"`) {
		t.Errorf("status %d: %s", r.status, r.body)
	}
}

func TestChunkedWithoutEnd(t *testing.T) {
	b := serve(t, nil)
	c := b.dial(t)
	c.send(t, head+"Transfer-Encoding: chunked\r\n\r\n")
	chunk := fmt.Sprintf("%x\r\n%s\r\n", 1<<20, strings.Repeat("#", 1<<20))
	for range drainBytes>>20 + maxBody>>20 + 8 {
		if _, err := io.WriteString(c, chunk); err != nil {
			break
		}
	}
	if r := c.reply(t); r.status != 413 || !r.closed {
		t.Errorf("status %d, closed %v", r.status, r.closed)
	}
}

// After a refusal the same connection gives the right answer to the next
// request, or says that it is closed; answers are never mixed up.
func TestPipelinedAfterRefusal(t *testing.T) {
	good := `{"code":"second"}`
	second := fmt.Sprintf("%sX-Request-Id: second\r\nContent-Length: %d\r\n\r\n%s", head, len(good), good)
	body := strings.Repeat("x", 3<<20)
	for name, first := range map[string]string{
		"refused by its type":   "POST /execute HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n",
		"refused by its path":   "POST /nothing HTTP/1.1\r\nHost: localhost\r\n",
		"refused by its method": "PUT /execute HTTP/1.1\r\nHost: localhost\r\n",
		"refused by its host":   "POST /execute HTTP/1.1\r\nHost: evil.example\r\n",
		"refused by its body":   head,
	} {
		b := serve(t, nil)
		c := b.dial(t)
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			_, _ = io.WriteString(c, fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s%s", first, len(body), body, second))
		}()
		if r := c.reply(t); r.status < 400 || r.status >= 500 || r.closed {
			t.Errorf("%s: status %d, closed %v", name, r.status, r.closed)
		}
		if r := c.reply(t); r.status != 200 || r.header.Get("X-Request-Id") != "second" || !strings.Contains(string(r.body), `"stdout":"second"`) {
			t.Errorf("%s: second answer: status %d: %s", name, r.status, r.body)
		}
		<-sent
		if jobs := b.runner.ran(); len(jobs) != 1 || jobs[0].Request.Code != "second" {
			t.Errorf("%s: ran %v", name, jobs)
		}
	}
}

// A caller that writes all of a large body before it reads still gets the answer,
// also if it is so slow, as on a busy machine, that its body is not read to the end.
func TestLargeBodyBeforeReading(t *testing.T) {
	b := serve(t, nil)
	c := b.dial(t)
	began := time.Now()
	c.send(t, fmt.Sprintf("%sContent-Length: %d\r\n\r\n", head, 60_000_000))
	block := strings.Repeat("#", 1_000_000)
	for range 60 {
		if _, err := io.WriteString(c, block); err != nil {
			if took := time.Since(began); took < drainTime {
				t.Fatalf("shut after %v: %v", took, err)
			}
			break
		}
	}
	if r := c.reply(t); r.status != 413 {
		t.Errorf("status %d", r.status)
	}
}

func TestExpectContinue(t *testing.T) {
	b := serve(t, nil)
	c := b.dial(t)
	c.send(t, head+"Content-Length: 60000000\r\nExpect: 100-continue\r\n\r\n")
	if r := c.reply(t); r.status != 413 || !r.closed {
		t.Errorf("too large: status %d, closed %v", r.status, r.closed)
	}
	c = b.dial(t)
	body := `{"code":"1"}`
	c.send(t, fmt.Sprintf("%sContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", head, len(body)))
	resp, err := http.ReadResponse(c.in, nil)
	if err != nil || resp.StatusCode != 100 {
		t.Fatalf("no 100: %v", err)
	}
	c.send(t, body)
	if r := c.reply(t); r.status != 200 {
		t.Errorf("status %d", r.status)
	}
}

// Half a body, with the connection open or shut: nothing runs, no slot is held
// and nothing is our error.
func TestHalfABody(t *testing.T) {
	b := serve(t, func(s *service.Config, c *Config) { s.Concurrency, c.BodyTimeout = 1, 300*time.Millisecond })
	half := head + "Content-Length: 100\r\n\r\n{\"code\":\"pri"
	var open []*raw
	for range 20 {
		c := b.dial(t)
		c.send(t, half)
		open = append(open, c)
		shut := b.dial(t)
		shut.send(t, half)
		_ = shut.Close()
	}
	if r := b.post(t, `{"code":"1"}`); r.status != 200 {
		t.Errorf("a good request beside them: status %d", r.status)
	}
	for _, c := range open {
		if r := c.reply(t); r.status != 408 || !r.closed {
			t.Errorf("status %d, closed %v", r.status, r.closed)
		}
	}
	c := b.dial(t)
	c.send(t, half)
	_ = c.Conn.(*net.TCPConn).CloseWrite()
	if r := c.reply(t); r.status != 400 {
		t.Errorf("body cut short: status %d", r.status)
	}
	if n := len(b.runner.ran()); n != 1 || strings.Contains(b.log.String(), `"level":"ERROR"`) {
		t.Errorf("%d runs, log %s", n, b.log)
	}
}

// A body that is framed wrongly is its sender's fault, and not our error.
func TestBadlyFramedBody(t *testing.T) {
	b := serve(t, nil)
	for _, body := range []string{"zz\r\n", "5\r\n12345xx", "-1\r\n", "fffffffffffffffff\r\n"} {
		c := b.dial(t)
		c.send(t, head+"Transfer-Encoding: chunked\r\n\r\n"+body)
		if r := c.reply(t); r.status != 400 || !r.closed || r.problem(t).Detail == "" {
			t.Errorf("%q: status %d, closed %v", body, r.status, r.closed)
		}
	}
	if strings.Contains(b.log.String(), `"level":"ERROR"`) {
		t.Errorf("log: %s", b.log)
	}
}

// A caller that does not send the rest of a refused body does not hold its connection.
func TestRefusedConnectionsEnd(t *testing.T) {
	b := serve(t, func(_ *service.Config, c *Config) { c.BodyTimeout = 50 * time.Millisecond })
	c := b.dial(t)
	c.send(t, head+"Content-Length: 100\r\n\r\n{")
	if r := c.reply(t); r.status != 408 {
		t.Errorf("status %d", r.status)
	}
	if _, err := c.in.ReadByte(); err != io.EOF {
		t.Errorf("after the answer: %v", err)
	}
}

// The time for the body is not the time for the run.
func TestRunMayTakeLongerThanTheBody(t *testing.T) {
	b := serve(t, func(_ *service.Config, c *Config) { c.BodyTimeout = 50 * time.Millisecond })
	b.runner.answer = func(ctx context.Context, _ snippet.Job) (snippet.Result, error) {
		select {
		case <-time.After(300 * time.Millisecond):
			return snippet.Result{Outcome: snippet.OK, Reason: snippet.Completed}, nil
		case <-ctx.Done():
			return snippet.Result{}, ctx.Err()
		}
	}
	if r := b.post(t, `{"code":"1"}`); r.status != 200 {
		t.Errorf("status %d: %s", r.status, r.body)
	}
}
