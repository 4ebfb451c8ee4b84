package connection

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// bench is a server on a real socket.
type bench struct {
	pool   *pool
	addr   string
	asked  atomic.Int64
	gate   chan struct{} // GET /wait is answered when this is closed
	server *http.Server
}

func serve(t *testing.T, most int) *bench {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{addr: l.Addr().String(), gate: make(chan struct{})}
	b.server = &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.asked.Add(1)
		switch r.URL.Path {
		case "/wait":
			<-b.gate
		case "/like":
			likeAnswers(w)
			return
		}
		_, _ = io.WriteString(w, r.URL.Path)
	})}
	bounded := Bound(b.server, l, most).(*listener)
	b.pool = bounded.pool
	b.pool.undisturbed = time.Millisecond
	go func() { _ = b.server.Serve(bounded) }()
	t.Cleanup(func() { _ = b.server.Close() })
	return b
}

// caller is a connection to a bench.
type caller struct {
	net.Conn
	in *bufio.Reader
}

func (b *bench) dial(t *testing.T) *caller {
	t.Helper()
	c, err := net.Dial("tcp", b.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(30 * time.Second))
	return &caller{c, bufio.NewReader(c)}
}

func (c *caller) ask(t *testing.T, path string) {
	t.Helper()
	if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path); err != nil {
		t.Fatal(err)
	}
}

func (c *caller) answer(t *testing.T) (*http.Response, string) {
	t.Helper()
	resp, err := http.ReadResponse(c.in, nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

// ended waits for the end of a connection.
func (c *caller) ended(t *testing.T) {
	t.Helper()
	if _, err := c.in.ReadByte(); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("still open: %v", err)
	}
}

// numbers are the connections that are open, busy and waiting.
func (p *pool) numbers() [3]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return [3]int{p.open, p.busy, p.waiting.Len()}
}

func (b *bench) eventually(t *testing.T, open, busy int) {
	t.Helper()
	want := [3]int{open, busy, open - busy}
	for end := time.Now().Add(20 * time.Second); b.pool.numbers() != want; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("open, busy, waiting are %v and never %v", b.pool.numbers(), want)
		}
	}
}

// The oldest of those that wait gives way, whether it is new or was answered before,
// and never one whose request is read.
func TestTheOldestThatWaitsGivesWay(t *testing.T) {
	b := serve(t, Least)
	busy := b.dial(t)
	busy.ask(t, "/wait")
	b.eventually(t, 1, 1)
	rested, silent := b.dial(t), b.dial(t)
	b.eventually(t, 3, 1)
	rested.ask(t, "/once")
	rested.answer(t)
	b.eventually(t, 3, 1) // it waits again a moment after its answer
	var others []*caller
	for range Least - 3 {
		others = append(others, b.dial(t))
	}
	b.eventually(t, Least, 1)
	late := b.dial(t)
	late.ask(t, "/late")
	if _, body := late.answer(t); body != "/late" {
		t.Errorf("the one that came last: %q", body)
	}
	silent.ended(t) // it has waited since before the other was answered
	b.dial(t)
	rested.ended(t)
	close(b.gate)
	if _, body := busy.answer(t); body != "/wait" {
		t.Errorf("the one that was served: %q", body)
	}
	others[len(others)-1].ask(t, "/other")
	if _, body := others[len(others)-1].answer(t); body != "/other" {
		t.Errorf("one that came after those: %q", body)
	}
	b.eventually(t, Least, 0)
	_ = late.Close()
	b.eventually(t, Least-1, 0)
}

// A flood of connections that say nothing keeps nobody out.
func TestAFloodKeepsNobodyOut(t *testing.T) {
	b := serve(t, Least)
	for range 10 * Least {
		b.dial(t)
	}
	for range 10 {
		c := b.dial(t)
		c.ask(t, "/in")
		if resp, _ := c.answer(t); resp.StatusCode != http.StatusOK {
			t.Errorf("status %d", resp.StatusCode)
		}
	}
	if n := b.pool.numbers(); n[0] > Least || n[0] != n[1]+n[2] {
		t.Errorf("open, busy, waiting: %v", n)
	}
}

// When all places for busy connections are taken, others are told so, at once and
// with their connection closed, and their requests are not served.
func TestBusyConnectionsAreBounded(t *testing.T) {
	b := serve(t, Least)
	var busy []*caller
	for range b.pool.busiest {
		c := b.dial(t)
		c.ask(t, "/wait")
		busy = append(busy, c)
	}
	b.eventually(t, b.pool.busiest, b.pool.busiest)
	before := b.asked.Load()
	for range 2 * Least {
		c := b.dial(t)
		if _, err := io.WriteString(c, "POST /more HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nbody"); err != nil {
			t.Fatal(err)
		}
		resp, body := c.answer(t)
		var problem struct{ Status int }
		if err := json.Unmarshal([]byte(body), &problem); err != nil || problem.Status != 503 || resp.StatusCode != 503 || resp.Header.Get("Retry-After") != "1" ||
			resp.Header.Get("Content-Type") != "application/problem+json" || resp.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("status %d, headers %v, body %q", resp.StatusCode, resp.Header, body)
		}
		c.ended(t)
	}
	if n := b.asked.Load(); n != before {
		t.Errorf("%d refused requests were served", n-before)
	}
	close(b.gate)
	for _, c := range busy {
		if resp, body := c.answer(t); resp.StatusCode != 200 || body != "/wait" {
			t.Errorf("status %d, %q", resp.StatusCode, body)
		}
	}
	b.eventually(t, len(busy), 0)
	busy[0].ask(t, "/again")
	if resp, _ := busy[0].answer(t); resp.StatusCode != 200 {
		t.Errorf("afterwards: status %d", resp.StatusCode)
	}
}

// A connection that has just come is not closed before its header can arrive: the
// next one waits instead.
func TestWhoJustCameIsNotDisturbed(t *testing.T) {
	p := &pool{most: 1, busiest: 1, undisturbed: time.Hour}
	first, second := &conn{pool: p}, &conn{pool: p}
	if victim, wait := p.admit(first); victim != nil || wait != 0 {
		t.Fatal("no place for the first")
	}
	if victim, wait := p.admit(second); victim != nil || wait <= 0 || first.gone {
		t.Errorf("the first gives way at once, wait %v", wait)
	}
	first.since = time.Now().Add(-2 * time.Hour)
	if victim, wait := p.admit(second); victim != first || wait != 0 || !first.gone {
		t.Errorf("the first does not give way, wait %v", wait)
	}
	if admitted, there := p.begin(first); admitted || there {
		t.Error("a request of who gave way is served")
	}
	p.leave(first)
	if got := p.numbers(); got != [3]int{1, 0, 1} {
		t.Errorf("open, busy, waiting: %v", got)
	}
}

// What a caller has sent counts, also while nobody has had the time to read it, and
// so does the begin of a header.
func TestWhoHasSentSomethingDoesNotGiveWay(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p := &pool{most: 3, busiest: 1}
	var ends []net.Conn
	var conns []*conn
	for range 3 {
		dialled, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer dialled.Close()
		accepted, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		c := &conn{Conn: accepted, pool: p}
		defer c.Close()
		if victim, wait := p.admit(c); victim != nil || wait != 0 {
			t.Fatal("no place")
		}
		ends, conns = append(ends, dialled), append(conns, c)
	}
	for _, n := range []int{0, 1} {
		if _, err := io.WriteString(ends[n], "GET"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := io.ReadFull(conns[1], make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); !conns[0].unread() && time.Now().Before(end); time.Sleep(time.Millisecond) {
	}
	for _, want := range []*conn{conns[2], conns[1]} {
		if victim, wait := p.admit(&conn{pool: p}); victim != want || wait != 0 {
			t.Errorf("another gave way, wait %v", wait)
		}
	}
}

// What a handler writes is its own, whatever it looks like.
func TestHandlersAreNotRewritten(t *testing.T) {
	b := serve(t, Least)
	c := b.dial(t)
	for range 2 {
		c.ask(t, "/like")
		if resp, got := c.answer(t); resp.StatusCode != http.StatusTeapot || got != strings.Repeat(like, 100) {
			t.Errorf("status %d, %d bytes", resp.StatusCode, len(got))
		}
	}
}

const like = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"

// likeAnswers writes a body that looks like answers of net/http, each in a write of
// its own to the connection.
func likeAnswers(w http.ResponseWriter) {
	w.Header().Set("Content-Length", strconv.Itoa(100*len(like)))
	w.WriteHeader(http.StatusTeapot)
	control := http.NewResponseController(w)
	_ = control.Flush()
	for range 100 {
		_, _ = io.WriteString(w, like)
		_ = control.Flush()
	}
}
