package sandbox

import (
	"math"
	"time"
)

// wear says when a template has served long enough. All its children have the
// same hash seed and the same layout of memory, which a patient caller could
// learn (PYTHONHASHSEED; fork(2)).
type wear struct {
	runs  int // children that it made
	age   time.Duration
	amble time.Duration // how long its heir starts slowly, at most; then it goes on at full speed
}

// usualWear is a minute of full load, or an hour of any.
var usualWear = wear{runs: 20_000, age: time.Hour, amble: 10 * time.Second}

// exchangeRest is the time between two exchanges of waiting children. Each costs
// what a run costs besides its answer.
const exchangeRest = 50 * time.Millisecond

// noWear is for where runs may leave processes: the sweep would end an heir.
var noWear = wear{runs: math.MaxInt, age: math.MaxInt64}

// keep offers the living template to the workers. It starts a new one when it
// dies, and also when it is worn: then beside it, so that no run waits.
func (s *Sandbox) keep(t *template) {
	defer s.workers.Done()
	var coming *heir // the next one, while it starts
	most := s.wear.runs
	aged := time.NewTimer(s.wear.age)
	defer aged.Stop()
	for {
		select {
		case s.current <- t:
			if coming == nil && t.made() >= most {
				coming = s.prepareHeir()
			}
		case <-aged.C:
			if coming == nil && t.made() > 0 {
				coming = s.prepareHeir()
			}
			aged.Reset(s.wear.age)
		case next := <-coming.born():
			coming = nil
			if next = s.fitting(next); next == nil {
				most = t.made() + s.wear.runs // a machine without room for two now may have it later
				continue
			}
			s.retire(t)
			t, most = next, s.wear.runs
			s.listing.current.Store(false)
			aged.Reset(s.wear.age)
		case <-s.stop:
			s.end(t)
			s.end(coming.hurry())
			return
		case <-t.done:
			s.log.Error("template interpreter died; starting another")
			s.broom.sweep(t.reapOrphans)
			if t = s.replace(coming); t == nil {
				return
			}
			coming, most = nil, s.wear.runs
			s.listing.current.Store(false)
		}
	}
}

// heir is a template that starts beside the one that serves.
type heir struct {
	ready   chan *template // nil comes when it could not be started
	hurried chan struct{}  // closed once somebody waits for it
}

// prepareHeir starts a template in the background.
func (s *Sandbox) prepareHeir() *heir {
	h := &heir{make(chan *template, 1), make(chan struct{})}
	s.turning.Add(1)
	s.workers.Go(func() {
		defer s.turning.Add(-1)
		t, err := s.startTemplate(h.hurried)
		s.notStarted(err)
		h.ready <- t
	})
	return h
}

// born gives the template once it can serve; of no heir it gives nothing.
func (h *heir) born() <-chan *template {
	if h == nil {
		return nil
	}
	return h.ready
}

// hurry waits for the template, which starts at full speed from now on.
func (h *heir) hurry() *template {
	if h == nil {
		return nil
	}
	close(h.hurried)
	return <-h.ready
}

// replace returns the template that follows a dead one, nil when the sandbox
// closes before there is one.
func (s *Sandbox) replace(h *heir) *template {
	rest := workerRest
	if t := s.fitting(h.hurry()); t != nil {
		return t
	}
	for {
		t, err := s.neededTemplate()
		if err == nil {
			return t
		}
		s.notStarted(err)
		if !s.rest(rest) {
			return nil
		}
		rest = min(2*rest, longestRest)
	}
}

// fitting returns a template unless the work base was made anew since it started:
// its file wall is about the old folder.
func (s *Sandbox) fitting(t *template) *template {
	if t != nil && t.base != s.bases.Load() {
		s.end(t)
		return nil
	}
	return t
}

func (s *Sandbox) notStarted(err error) {
	if err != nil && !s.closing() {
		s.log.Error("start template interpreter", "error", err.Error())
	}
}

// retire ends a template that has an heir, once its children are gone: each of
// those that wait gives way to one of the heir's, one at a time.
func (s *Sandbox) retire(t *template) {
	s.turning.Add(1)
	s.workers.Go(func() {
		defer s.turning.Add(-1)
		defer s.end(t)
		for t.busy() && t.alive() && s.rest(exchangeRest) {
			select {
			case t.leave <- struct{}{}:
			default: // those that are left run
			}
		}
	})
}

// end kills a template, and every child that it still has.
func (s *Sandbox) end(t *template) {
	if t == nil {
		return
	}
	t.kill()
	s.broom.sweep(t.reapOrphans)
}

// rest waits; it is false when the sandbox closes meanwhile.
func (s *Sandbox) rest(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-s.stop:
		return false
	}
}

func (s *Sandbox) closing() bool {
	select {
	case <-s.stop:
		return true
	default:
		return false
	}
}
