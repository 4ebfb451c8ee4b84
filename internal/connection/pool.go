package connection

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"cloche/internal/api"
)

// Least is the smallest number of places that a server can work with.
const Least = 16

// A part of all places is never for busy connections, within bounds.
const (
	sparePart = 8
	mostSpare = 64
)

// undisturbed is how long a connection that waits does not give way: the header
// of an honest caller, which is on its way, is read in that time. Until then
// no more are accepted; the kernel keeps those that come.
const undisturbed = 250 * time.Millisecond

// restTime is how long the rest of a refused body may take to come: if it came
// after the connection is closed, its caller might not see the answer.
const restTime = 100 * time.Millisecond

// pool knows all connections of a server.
type pool struct {
	most        int // places
	busiest     int // of these, for busy ones
	undisturbed time.Duration

	mu      sync.Mutex
	open    int
	busy    int
	waiting list.List // of *conn, that which has waited longest first
}

// Bound has srv serve at most so many connections of l, and returns the listener
// that srv must be given. Fewer than Least are Least. It wraps srv's Handler and
// takes its ConnContext and ConnState, so call it once, before srv serves.
func Bound(srv *http.Server, l net.Listener, most int) net.Listener {
	p := &pool{most: max(most, Least), busiest: Busiest(most), undisturbed: undisturbed}
	p.attach(srv)
	return &listener{l, p}
}

// Busiest is how many of so many connections may be busy at one time.
func Busiest(most int) int {
	most = max(most, Least)
	return most - min(most/sparePart, mostSpare)
}

func (p *pool) attach(srv *http.Server) {
	srv.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, key{}, c)
	}
	srv.ConnState = func(c net.Conn, state http.ConnState) {
		if c, ok := c.(*conn); ok && state == http.StateIdle {
			p.rest(c)
		}
	}
	srv.Handler = p.handler(srv.Handler)
}

// key finds the connection of a request in its context.
type key struct{}

// listener accepts what the pool has a place for.
type listener struct {
	net.Listener
	pool *pool
}

// Accept waits until there is a place, and lets the connection that has waited
// longest give way.
func (l *listener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: accepted, pool: l.pool}
	for {
		victim, wait := l.pool.admit(c)
		if victim != nil {
			_ = victim.Conn.Close()
		}
		if wait == 0 {
			return c, nil
		}
		time.Sleep(wait)
	}
}

// admit gives a connection a place, and returns the one that must be closed for
// it, if any. Or it says after what time to ask again.
func (p *pool) admit(c *conn) (victim *conn, wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open >= p.most {
		if victim, wait = p.oldest(); victim == nil {
			return nil, wait
		}
		p.drop(victim)
	}
	p.open++
	p.enqueue(c)
	return victim, 0
}

// oldest is the connection that has waited longest, if it has for long enough. One
// whose caller has sent something that nobody had the time to read is not waited
// for: it begins to wait anew.
func (p *pool) oldest() (c *conn, wait time.Duration) {
	for {
		c = p.waiting.Front().Value.(*conn) // there is one: not all places are for busy ones
		if wait = p.undisturbed - time.Since(c.since); wait > 0 {
			return nil, wait
		}
		if !c.unread() {
			return c, 0
		}
		p.requeue(c)
	}
}

func (p *pool) requeue(c *conn) {
	c.since = time.Now()
	p.waiting.MoveToBack(c.place)
}

// progress is for a connection from which the first bytes of a request were read:
// the rest of the header is on its way, or already here.
func (p *pool) progress(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.place != nil {
		p.requeue(c)
	}
}

func (p *pool) enqueue(c *conn) {
	c.since = time.Now()
	c.place = p.waiting.PushBack(c)
}

// begin makes a connection busy. It says whether it may be, and whether the
// connection is there at all: it may just have given way.
func (p *pool) begin(c *conn) (admitted, there bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.gone {
		return false, false
	}
	if p.busy >= p.busiest {
		return false, true // it goes on waiting, and so can give way
	}
	p.busy++
	p.waiting.Remove(c.place)
	c.place = nil
	return true, true
}

// rest makes a connection one that waits, after its answer.
func (p *pool) rest(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !c.gone && c.place == nil {
		p.busy--
		p.enqueue(c)
	}
	c.begun.Store(false)
	c.answering.Store(false)
}

// leave frees the place of a connection that is closed.
func (p *pool) leave(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop(c)
}

func (p *pool) drop(c *conn) {
	if c.gone {
		return
	}
	c.gone = true
	p.open--
	if c.place == nil {
		p.busy--
		return
	}
	p.waiting.Remove(c.place)
	c.place = nil
}

// handler stands before a server's own handler: with it begins what is not
// net/http's answer.
func (p *pool) handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, ok := r.Context().Value(key{}).(*conn)
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		c.answering.Store(true)
		switch admitted, there := p.begin(c); {
		case admitted:
			next.ServeHTTP(w, r)
		case there:
			refuse(w)
		default:
			panic(http.ErrAbortHandler) // nobody could be answered, so nothing may run
		}
	})
}

// refuse leaves the body to net/http, which reads what has come of it when the
// answer is sent, and has it wait hardly for more.
func refuse(w http.ResponseWriter) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(restTime))
	_ = control.SetWriteDeadline(time.Now().Add(refusalTime))
	header, body := api.Refusal(http.StatusServiceUnavailable, "Too many requests are open; try again later.", time.Second)
	for name, values := range header {
		w.Header()[name] = values
	}
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = w.Write(body)
}
