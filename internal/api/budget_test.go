package api

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"cloche/internal/service"
)

// ended collects whose deadlines were moved into the past.
type ended struct{ names []string }

func (e *ended) caller(name string) func(time.Time) error {
	return func(until time.Time) error {
		if until.Equal(past) {
			e.names = append(e.names, name)
		}
		return nil
	}
}

func TestTheSlowestGivesWay(t *testing.T) {
	var e ended
	b := newBudget(10)
	far := time.Now().Add(time.Hour)
	one, two, three := b.open(e.caller("one")), b.open(e.caller("two")), b.open(e.caller("three"))
	for _, s := range []*share{one, two, three} {
		s.await(far)
	}
	if !one.take(4) || !two.take(4) {
		t.Fatal("there was room")
	}
	one.await(far) // progress: now two is the slowest
	if !three.take(3) || !slices.Equal(e.names, []string{"two"}) || !two.settle() || one.settle() {
		t.Fatalf("gave way: %v", e.names)
	}
	if two.take(1) {
		t.Error("who gave way takes more")
	}
	if three.take(100) {
		t.Error("more is taken than there is")
	}
	three.charge(100) // held whether there is room or not
	two.charge(1)
	if left := b.left; left != 10-4-103 {
		t.Errorf("%d left", left)
	}
	three.keep(1)
	three.keep(5)
	if left := b.left; left != 10-4-1 {
		t.Errorf("%d left after most is given back", left)
	}
	for _, s := range []*share{one, two, three, one} {
		s.release()
	}
	if b.left != 10 || len(b.waiting) != 0 {
		t.Errorf("%d left, %d waiting after all is released", b.left, len(b.waiting))
	}
}

// Whose caller is not waited for is not ended: it is being served.
func TestWhoIsServedDoesNotGiveWay(t *testing.T) {
	var e ended
	b := newBudget(10)
	served, other := b.open(e.caller("served")), b.open(e.caller("other"))
	served.await(time.Now())
	if !served.take(10) || served.settle() {
		t.Fatal("there was room")
	}
	if other.take(1) || len(e.names) != 0 {
		t.Errorf("gave way: %v", e.names)
	}
}

// holders sends bodies that are all but complete, so that they are held.
func holders(t *testing.T, b *bench, n, size int) []*raw {
	t.Helper()
	var held []*raw
	for range n {
		c := b.dial(t)
		c.send(t, fmt.Sprintf("%sContent-Length: %d\r\n\r\n{", head, size))
		c.send(t, strings.Repeat(" ", size-2))
		held = append(held, c)
	}
	return held
}

// Large bodies that do not end keep nobody away: a small one has room of its own,
// and of the large ones those that stand still give way to one that arrives.
func TestEndlessBodiesGiveWay(t *testing.T) {
	b := serve(t, nil)
	s := b.inside
	held := holders(t, b, 12, maxBody)
	eventually(t, "some gave way", func() bool {
		s.large.mu.Lock()
		defer s.large.mu.Unlock()
		return len(s.large.waiting) <= largeBodies/maxBody
	})
	if r := b.post(t, `{"code":"small"}`); r.status != 200 {
		t.Errorf("a small one: status %d", r.status)
	}
	if r := b.post(t, `{"code":"large"`+strings.Repeat(" ", maxBody-20)+"}"); r.status != 200 {
		t.Errorf("a large one that arrives: status %d: %.200s", r.status, r.body)
	}
	if r := held[0].reply(t); r.status != 429 || r.header.Get("Retry-After") == "" || r.problem(t).Detail == "" {
		t.Errorf("one that gave way: status %d, headers %v", r.status, r.header)
	}
	for _, c := range held {
		_ = c.Close()
	}
	eventually(t, "all is given back", func() bool {
		s.large.mu.Lock()
		defer s.large.mu.Unlock()
		return s.large.left == largeBodies && len(s.large.waiting) == 0
	})
}

// Bodies are charged for what has arrived, not for what was announced.
func TestAnnouncedBytesAreNotHeld(t *testing.T) {
	b := serve(t, nil)
	for range 100 {
		b.dial(t).send(t, fmt.Sprintf("%sContent-Length: %d\r\n\r\n{", head, maxBody))
	}
	s := b.inside
	eventually(t, "all wait", func() bool {
		s.small.mu.Lock()
		defer s.small.mu.Unlock()
		return len(s.small.waiting) == 100
	})
	s.large.mu.Lock()
	defer s.large.mu.Unlock()
	if s.large.left != largeBodies {
		t.Errorf("%d bytes are held for bodies of which one byte arrived", largeBodies-s.large.left)
	}
}

// Requests that wait for a slot hold what they are and not what they were sent as.
func TestWaitingRequestsHoldTheirSize(t *testing.T) {
	b := serve(t, func(s *service.Config, _ *Config) { s.Concurrency, s.Queue = 1, 10 })
	b.runner.answer = slow(time.Minute)
	body := `{"code":"large"` + strings.Repeat(" ", 1<<20) + "}"
	c := b.dial(t)
	c.send(t, fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", head, len(body), body))
	eventually(t, "it runs", func() bool { return b.service.Load().InFlight == 1 })
	s := b.inside
	s.large.mu.Lock()
	defer s.large.mu.Unlock()
	if s.large.left != largeBodies-int64(len("large")) {
		t.Errorf("%d bytes are held", largeBodies-s.large.left)
	}
}

// halves reads half a pace at a time.
type halves struct{ from io.Reader }

func (h halves) Read(p []byte) (int, error) { return h.from.Read(p[:min(len(p), paceBytes/2)]) }

// The bytes of a body must keep coming, and a caller whose body comes slowly
// but steadily has its whole time.
func TestBodiesKeepTheirPace(t *testing.T) {
	s := &server{small: newBudget(smallBodies)}
	var until []time.Time
	note := func(t time.Time) error { until = append(until, t); return nil }
	began := time.Now()
	text := strings.NewReader(strings.Repeat("x", 2*paceBytes-100))
	in := &intake{server: s, from: halves{text}, length: text.Size(), end: began.Add(time.Hour), share: s.small.open(note)}
	if err := in.read(); err != nil {
		t.Fatal(err)
	}
	if len(until) != 2 || until[0].Before(began.Add(bodyPace)) || until[1].Before(until[0]) {
		t.Errorf("%d deadlines for %d bytes: %v", len(until), len(in.body), until)
	}
	in = &intake{server: s, from: strings.NewReader("x"), length: -1, end: began.Add(time.Millisecond), share: s.small.open(note)}
	if err := in.read(); err != nil || !until[len(until)-1].Equal(in.end) {
		t.Errorf("a deadline after the end: %v, error %v", until[len(until)-1], err)
	}
}
