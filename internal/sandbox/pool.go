package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"cloche/internal/snippet"
)

// The pool of children that wait for a job. Each worker makes one and holds it
// until a run takes it. Runs that find none bring more workers, which leave when
// nobody needs their child for a while.

// Bounds on waiting for a child: how long a run waits before it is refused, and
// how long a worker rests after a failure and after a success.
const (
	childWait      = 5 * time.Second
	workerRest     = 100 * time.Millisecond
	longestRest    = 5 * time.Second
	refillRest     = time.Millisecond
	complaintRest  = time.Second
	lookRest       = 2 * time.Second // between looks at whether a waiting child still lives
	helperPatience = time.Second     // how long a worker that was called for help waits for a run
)

// supply makes one child after the other and holds each until a run takes it, or
// until the patience is over; 0 is for ever.
func (s *Sandbox) supply(patience time.Duration) {
	defer s.workers.Done()
	for {
		select {
		case t := <-s.current:
			if !s.supplyFrom(t, patience) {
				return
			}
		case <-s.stop:
			return
		}
	}
}

// supplyFrom is false when the worker is to leave.
func (s *Sandbox) supplyFrom(t *template, patience time.Duration) bool {
	c, err := s.spawnInTurn(t)
	if err != nil {
		s.notMade(t, err)
		return s.rest(workerRest)
	}
	return s.offer(c, patience)
}

// notMade says why a child could not be made, about once in a second: every
// worker meets the same.
func (s *Sandbox) notMade(t *template, err error) {
	if !t.alive() || s.closing() {
		return
	}
	if last := s.complained.Load(); last == nil || time.Since(*last) >= complaintRest {
		now := time.Now()
		s.complained.Store(&now)
		s.log.Error("make child", "error", err.Error())
	}
	s.mendBase(t)
}

// offer holds a child until a run takes it. It is false when the worker is to
// leave: the sandbox closes, or its patience is over.
func (s *Sandbox) offer(c *child, patience time.Duration) bool {
	look := time.NewTicker(lookRest)
	defer look.Stop()
	var late <-chan time.Time
	if patience > 0 {
		late = time.After(patience)
	}
	leave := c.template.leave
	var again <-chan time.Time // when leave is heard again after it could not be done
	for !c.gone() {
		select {
		case s.ready <- c:
			// A short run is over before the next child is made: they would share cores.
			return s.rest(refillRest)
		case <-look.C: // somebody may kill it
		case <-leave:
			heir, err := s.exchange(c)
			if c, leave = heir, heir.template.leave; err != nil {
				leave, again = nil, time.After(workerRest)
			}
		case <-again:
			leave = c.template.leave
		case <-c.template.done:
			s.discard(c)
			return true
		case <-late:
			s.discard(c)
			return false
		case <-s.stop:
			s.discard(c)
			return false
		}
	}
	s.discard(c)
	return true
}

// exchange returns a child of the current template for one of an earlier; the
// same one and an error if none can be made.
func (s *Sandbox) exchange(c *child) (*child, error) {
	select {
	case t := <-s.current:
		heir, err := s.spawnInTurn(t)
		if err != nil {
			s.notMade(t, err)
			return c, err
		}
		s.discard(c)
		return heir, nil
	case <-s.stop:
		return c, nil
	}
}

// callHelp brings one more worker, up to the most that may be.
func (s *Sandbox) callHelp() {
	s.helpLock.Lock()
	defer s.helpLock.Unlock()
	if s.helpers >= s.mostHelpers || s.closing() {
		return
	}
	s.helpers++
	s.workers.Add(1)
	go func() {
		s.supply(helperPatience)
		s.helpLock.Lock()
		defer s.helpLock.Unlock()
		s.helpers--
	}()
}

// spawnInTurn makes a child between runs where a run may leave processes, so
// that no waiting child is alive beside one.
func (s *Sandbox) spawnInTurn(t *template) (*child, error) {
	if s.layers.forks() {
		s.turn.Lock()
		defer s.turn.Unlock()
	}
	return s.spawn(t)
}

// take returns a waiting child, or ErrUnavailable.
func (s *Sandbox) take(ctx context.Context) (*child, error) {
	if s.layers.forks() {
		return s.takeOrMake(ctx)
	}
	select {
	case c := <-s.ready:
		return c, nil
	default:
		s.callHelp()
	}
	late := time.NewTimer(childWait)
	defer late.Stop()
	select {
	case c := <-s.ready:
		return c, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-late.C:
		return nil, fmt.Errorf("%w: no child got ready within %s", snippet.ErrUnavailable, childWait)
	case <-s.stop:
		return nil, fmt.Errorf("%w: the sandbox is closed", snippet.ErrUnavailable)
	}
}

// takeOrMake is take for the holder of the turn, whom no worker can serve
// meanwhile.
func (s *Sandbox) takeOrMake(ctx context.Context) (*child, error) {
	late := time.NewTimer(childWait)
	defer late.Stop()
	select {
	case c := <-s.ready:
		return c, nil
	default:
	}
	select {
	case t := <-s.current:
		c, err := s.spawn(t)
		if err != nil {
			err = fmt.Errorf("%w: %w", snippet.ErrUnavailable, err)
		}
		return c, err
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-late.C:
		return nil, fmt.Errorf("%w: the template interpreter did not get ready within %s", snippet.ErrUnavailable, childWait)
	case <-s.stop:
		return nil, fmt.Errorf("%w: the sandbox is closed", snippet.ErrUnavailable)
	}
}

// discard ends a child and leaves nothing of it: in the background, unless the
// machine may be frozen after the answer.
func (s *Sandbox) discard(c *child) {
	c.kill()
	if s.layers.forks() && c.awaitDeath(deathTime) {
		s.bury(c)
		return
	}
	s.broom.sweep(func() {
		if s.awaitDeath(c) {
			s.bury(c)
		}
	})
}

// awaitDeath waits for as long as a killed child takes to die, or until the sandbox
// closes: then it is false. What lives is not reaped, and its folders are its own.
func (s *Sandbox) awaitDeath(c *child) bool {
	for complained := false; !c.awaitDeath(childStart); complained = true {
		if s.closing() {
			return false
		}
		if !complained {
			s.log.Error("a child was killed and does not die", "pid", c.pid)
		}
	}
	return true
}

// bury frees everything of a dead child.
func (s *Sandbox) bury(c *child) {
	c.release()
	s.takeFolders(c.folders)
}

// mendBase makes the work base anew when somebody removed it. The template's
// file wall is about the old folder, so it has to go.
func (s *Sandbox) mendBase(t *template) {
	s.baseLock.Lock()
	defer s.baseLock.Unlock()
	if _, err := os.Lstat(s.base); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return
	}
	lock, err := makeBase(s.base)
	if err != nil {
		s.log.Error("make work base again", "error", err.Error())
		return
	}
	s.log.Error("the work base was removed; made again", "work_base", s.base)
	s.clearSpare()
	_ = s.lock.Close()
	s.lock = lock
	s.bases.Add(1)
	t.kill()
}
