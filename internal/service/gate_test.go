package service

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestGateOrderAndLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(1, 3, time.Minute)
		mustEnter(t, g)
		var order []int
		var mu sync.Mutex
		for i := range 3 {
			go func() {
				mustEnter(t, g)
				mu.Lock()
				order = append(order, i)
				mu.Unlock()
				time.Sleep(time.Second)
				g.leave(time.Second)
			}()
			synctest.Wait()
		}
		if l := g.load(); l.InFlight != 1 || l.Waiting != 3 {
			t.Errorf("load %+v", l)
		}
		if _, err := g.enter(t.Context()); !busy(err, 0) {
			t.Errorf("a fourth may wait: %v", err)
		}
		time.Sleep(time.Second)
		g.leave(time.Second)
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if len(order) != 3 || order[0] != 0 || order[1] != 1 || order[2] != 2 {
			t.Errorf("served in order %v", order)
		}
		if l := g.load(); l.InFlight != 0 || l.Waiting != 0 || l.Refused != 1 || l.QueueWait != 6*time.Second {
			t.Errorf("load after all left: %+v", l)
		}
	})
}

func TestGateWaitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(1, 1, 10*time.Second)
		mustEnter(t, g)
		began := time.Now()
		if _, err := g.enter(t.Context()); !busy(err, 10*time.Second) || time.Since(began) != 10*time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := g.enter(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("caller left: %v", err)
		}
		if l := g.load(); l.Waiting != 0 || l.Refused != 1 {
			t.Errorf("load %+v", l)
		}
		g.leave(0)
		mustEnter(t, g)
	})
}

func TestGateAdvice(t *testing.T) {
	g := newGate(2, 0, time.Second)
	for held, want := range map[time.Duration]time.Duration{
		0: time.Second, 3 * time.Second: 2 * time.Second, time.Hour: maxRetryAfter,
	} {
		g.typical = held
		var e *BusyError
		if err := g.refuse(0); !errors.As(err, &e) || e.RetryAfter != want {
			t.Errorf("typical %v: advice %v", held, e.RetryAfter)
		}
	}
}

func TestGateRefusesTheDead(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	g := newGate(1, 1, time.Second)
	if _, err := g.enter(ctx); !errors.Is(err, context.Canceled) || len(g.slots) != 0 {
		t.Errorf("error %v, slots %d", err, len(g.slots))
	}
}

func mustEnter(t *testing.T, g *gate) {
	t.Helper()
	if _, err := g.enter(context.Background()); err != nil {
		t.Errorf("enter: %v", err)
	}
}

func busy(err error, waited time.Duration) bool {
	var e *BusyError
	return errors.As(err, &e) && e.Waited == waited && e.RetryAfter >= time.Second
}
