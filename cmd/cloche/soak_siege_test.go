//go:build linux && soak

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"cloche/internal/snippet"
)

// The siege: callers that hold what they can, all at once.
const (
	siegeIdle    = 2000
	siegeReaders = 200
	siegeBodies  = 64
	siegeHonest  = 100
	siegeRounds  = 3
	siegeMemory  = 300 << 20       // bytes that the server may have at any time
	siegeReturns = 5 * time.Second // who is sent away comes again after that
)

// siege counts who holds a connection and how often one ended.
type siege struct {
	addr string
	all  sync.WaitGroup

	idle, readers, bodies atomic.Int64 // how many hold a connection
	again                 atomic.Int64
	answered              atomic.Int64 // readers whose answers began
}

// Many callers that only hold connections, answers and bodies keep nobody out,
// and the server stays small.
func TestSiege(t *testing.T) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur < 4096 { // Go has raised it to the hard one
		t.Skipf("this process may have %d files open, error %v; the siege takes some 2500", limit.Cur, err)
	}
	buildServer(t)
	s := startCommand(t, filepath.Join(t.TempDir(), "data"), workFolder(t), "sh", "-c", `ulimit -n 1024 && exec cloche "$@"`, "sh")
	honest(t, s.url, 1) // warm
	quiet := honest(t, s.url, siegeRounds)

	g := &siege{addr: strings.TrimPrefix(s.url, "http://")}
	ctx, lift := context.WithCancel(t.Context())
	defer lift()
	g.lay(ctx)
	for end := time.Now().Add(4 * time.Minute); g.answered.Load() < siegeReaders || g.again.Load() < siegeIdle; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no siege: %s", g)
		}
	}
	t.Logf("the siege stands: %s; the server has %d MiB", g, s.resident(t)>>20)
	besieged := honest(t, s.url, siegeRounds)
	t.Logf("while it stands: %s; the server has %d MiB", g, s.resident(t)>>20)
	lift()
	g.all.Wait()

	began := time.Now()
	honest(t, s.url, 1)
	t.Logf("p95 of %d honest callers: %v, quiet %v; right after the siege all were served in %v; most memory %d MiB",
		siegeHonest, besieged, quiet, time.Since(began).Round(time.Millisecond), s.memory(t, "VmHWM:")>>20)
	if most := s.memory(t, "VmHWM:"); most >= siegeMemory {
		t.Errorf("the server had %d MiB", most>>20)
	}
	s.signal(t)
	if status := s.end(t, 30*time.Second); status != 0 {
		t.Errorf("status %d", status)
	}
	for line := range strings.Lines(s.stderr.String()) {
		if strings.Contains(line, `"level":"ERROR"`) || strings.Contains(line, `"level":"WARN"`) {
			t.Errorf("log: %s", line)
		}
	}
}

// honest has all honest callers run a snippet at the same time, some times, each on
// a connection of its own, and returns the 95th percentile of their times.
func honest(t *testing.T, url string, rounds int) (p95 time.Duration) {
	t.Helper()
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}
	var mu sync.Mutex
	var took []time.Duration
	for round := range rounds {
		var callers sync.WaitGroup
		for n := range siegeHonest {
			callers.Go(func() {
				number := round*siegeHonest + n
				began := time.Now()
				r, err := one(0, snippet.Completed, fmt.Sprintf("print(%d)", number)).send(client, url)
				if err != nil || r.Outcome != snippet.OK || r.Stdout != fmt.Sprintf("%d\n", number) {
					t.Errorf("caller %d: %s (%s) %q, error %v", number, r.Outcome, r.Reason, r.Stdout, err)
				}
				mu.Lock()
				defer mu.Unlock()
				took = append(took, time.Since(began))
			})
		}
		callers.Wait()
	}
	slices.Sort(took)
	return took[len(took)*95/100].Round(100 * time.Microsecond)
}

func (g *siege) String() string {
	return fmt.Sprintf("%d idle, %d readers, %d bodies hold a connection; %d answers began, %d connections ended",
		g.idle.Load(), g.readers.Load(), g.bodies.Load(), g.answered.Load(), g.again.Load())
}

// lay starts all callers. Idle ones and bodies come again when they are sent away;
// readers only until
// they have had an answer: each costs a run, and what runs may take is not what is tried.
func (g *siege) lay(ctx context.Context) {
	for n := range siegeIdle {
		g.besiege(ctx, &g.idle, func(c net.Conn) bool { return rest(c, n%2 == 0) })
	}
	for n := range siegeBodies {
		g.besiege(ctx, &g.bodies, func(c net.Conn) bool { return endless(c, n%2 == 0) })
	}
	for range siegeReaders {
		g.besiege(ctx, &g.readers, g.readSlowly)
	}
}

// besiege has one caller hold a connection until it is closed, and come again if
// hold says so, until the siege ends.
func (g *siege) besiege(ctx context.Context, holding *atomic.Int64, hold func(net.Conn) (again bool)) {
	g.all.Go(func() {
		for again := true; again && ctx.Err() == nil; g.again.Add(1) {
			var dialer net.Dialer
			if c, err := dialer.DialContext(ctx, "tcp", g.addr); err == nil {
				stop := context.AfterFunc(ctx, func() { c.Close() })
				holding.Add(1)
				again = hold(c)
				holding.Add(-1)
				stop()
				c.Close()
			}
			select {
			case <-ctx.Done():
			case <-time.After(siegeReturns):
			}
		}
	})
}

// rest says nothing, or nothing more after one request.
func rest(c net.Conn, ask bool) (again bool) {
	if ask {
		_, _ = io.WriteString(c, "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
	}
	_, _ = io.Copy(io.Discard, c)
	return true
}

// endless sends all of a large body but its last byte at once, or a little at a time.
func endless(c net.Conn, atOnce bool) (again bool) {
	const size = 8 << 20
	fmt.Fprintf(c, "POST /execute HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n{", size)
	if atOnce {
		_, _ = c.Write(bytes.Repeat([]byte(" "), size-2))
		_, _ = io.Copy(io.Discard, c)
		return true
	}
	for piece := bytes.Repeat([]byte(" "), 4<<10); ; time.Sleep(500 * time.Millisecond) {
		if _, err := c.Write(piece); err != nil {
			return true
		}
	}
}

// readSlowly asks for an answer of 6 MiB and reads a few bytes of it a second.
func (g *siege) readSlowly(c net.Conn) (again bool) {
	_ = c.(*net.TCPConn).SetReadBuffer(4096)
	body, _ := json.Marshal(map[string]any{"code": `open("f", "w").write('"' * 3_100_000)`, "timeout_ms": unhurried})
	fmt.Fprintf(c, "POST /execute HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	some := make([]byte, 16)
	if _, err := io.ReadFull(c, some); err != nil || !strings.Contains(string(some), " 200 ") {
		return true // there was no slot for it
	}
	g.answered.Add(1)
	for {
		time.Sleep(time.Second)
		if _, err := c.Read(some); err != nil {
			return false
		}
	}
}
