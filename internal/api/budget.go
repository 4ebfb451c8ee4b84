package api

import (
	"errors"
	"sync"
	"time"
)

// What may be held for callers at the same time, in bytes. Small bodies have
// a reserve of their own, and small answers are not counted: connections are
// bounded, so these are too, and nothing large keeps them waiting.
const (
	smallBody   = 32 << 10
	smallBodies = 32 << 20
	largeBodies = 32 << 20

	smallAnswer  = 32 << 10
	largeAnswers = 32 << 20
)

// errBudget means that the room for bodies is taken by callers that are better
// at sending, or by requests that wait for a slot.
var errBudget = errors.New("the bodies in flight exceed their budget")

// budget bounds the bytes that are held for callers at the same time. When
// there is no room left, the share that has made no progress for longest gives
// way, of those whose callers are waited for: who keeps up is not refused for
// the sake of one who does not.
type budget struct {
	mu      sync.Mutex
	left    int64 // below zero if more had to be held
	waiting map[*share]struct{}
}

func newBudget(size int64) *budget {
	return &budget{left: size, waiting: map[*share]struct{}{}}
}

// share is the part of a budget that one body or answer takes. All its fields
// but the first two are guarded by the budget's mutex.
type share struct {
	of       *budget
	deadline func(time.Time) error // of reading from the caller, or of writing to it

	used  int64
	moved time.Time // when it last made progress
	lost  bool      // it gave way
}

// open makes an empty share that cannot be asked to give way yet. Release it.
func (b *budget) open(deadline func(time.Time) error) *share {
	return &share{of: b, deadline: deadline}
}

// await says that the caller is waited for until then, since there was progress.
// From now on the share can be asked to give way. Without effect on a lost share.
func (s *share) await(until time.Time) {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	if s.lost {
		return
	}
	s.moved = time.Now()
	s.of.waiting[s] = struct{}{}
	// Where the connection has no deadlines, as on Lambda, nobody is waited for.
	_ = s.deadline(until)
}

// settle says that the caller is not waited for any more, and whether the share
// was lost before that.
func (s *share) settle() (lost bool) {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	delete(s.of.waiting, s)
	return s.lost
}

// take adds n bytes, for which others may have to give way. It reports false, and
// takes nothing, if there is no room even so, or if the share is lost.
func (s *share) take(n int64) bool {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	if s.lost || !s.of.makeRoom(n, s) {
		return false
	}
	s.add(n)
	return true
}

// charge is take for what is held already: it is counted whether there is room
// or not. A negative n gives bytes back.
func (s *share) charge(n int64) {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	if s.lost {
		return
	}
	s.of.makeRoom(n, s)
	s.add(n)
}

// keep gives back all but n bytes.
func (s *share) keep(n int64) {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	if s.used > n {
		s.add(n - s.used)
	}
}

// release gives everything back. It may be called more than once.
func (s *share) release() {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.of.drop(s)
}

func (s *share) add(n int64) {
	s.used += n
	s.of.left -= n
}

func (b *budget) drop(s *share) {
	delete(b.waiting, s)
	s.add(-s.used)
}

// makeRoom lets others give way until n bytes are left, and reports whether they
// are.
func (b *budget) makeRoom(n int64, taker *share) bool {
	for b.left < n {
		last := b.last(taker)
		if last == nil {
			return false
		}
		b.drop(last)
		last.lost = true
		_ = last.deadline(past) // its reading or writing ends at once
	}
	return true
}

// last is the one that has made no progress for longest, or nil.
func (b *budget) last(taker *share) (last *share) {
	for s := range b.waiting {
		if s != taker && s.used > 0 && (last == nil || s.moved.Before(last.moved)) {
			last = s
		}
	}
	return last
}

// past is a deadline that is over. The zero time would mean none.
var past = time.Unix(1, 0)
