package api

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"cloche/internal/service"
	"cloche/internal/snippet"
)

// slow is a runner's answer that takes so long, or until the caller leaves.
func slow(d time.Duration) func(context.Context, snippet.Job) (snippet.Result, error) {
	return func(ctx context.Context, _ snippet.Job) (snippet.Result, error) {
		select {
		case <-time.After(d):
			return snippet.Result{Outcome: snippet.OK, Reason: snippet.Completed}, nil
		case <-ctx.Done():
			return snippet.Result{Outcome: snippet.Error, Reason: snippet.Abandoned}, nil
		}
	}
}

func TestOverload(t *testing.T) {
	b := serve(t, func(s *service.Config, _ *Config) { s.Concurrency, s.Queue, s.Wait = 2, 4, 200*time.Millisecond })
	b.runner.answer = slow(150 * time.Millisecond)
	var mu sync.Mutex
	count := map[int]int{}
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			began := time.Now()
			r := b.post(t, `{"code":"1"}`)
			mu.Lock()
			defer mu.Unlock()
			count[r.status]++
			if r.status == 200 {
				return
			}
			if seconds, err := strconv.Atoi(r.header.Get("Retry-After")); err != nil || seconds < 1 {
				t.Errorf("Retry-After %q", r.header.Get("Retry-After"))
			}
			r.problem(t)
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("refused after %v", took)
			}
		})
	}
	all.Wait()
	if count[200] == 0 || count[429] == 0 || count[200]+count[429]+count[503] != 100 {
		t.Errorf("statuses %v", count)
	}
	load := b.service.Load()
	if load.InFlight != 0 || load.Waiting != 0 || load.Refused != int64(count[429]) {
		t.Errorf("load %+v, statuses %v", load, count)
	}
	if r := b.post(t, `{"code":"1"}`); r.status != 200 {
		t.Errorf("next request: status %d", r.status)
	}
}

func TestRefusedAtOnceWhenTheRoomIsFull(t *testing.T) {
	b := serve(t, func(s *service.Config, _ *Config) { s.Concurrency, s.Queue, s.Wait = 1, -1, time.Minute })
	b.runner.answer = slow(time.Minute)
	leave := b.leaver(t)
	eventually(t, "one runs", func() bool { return b.service.Load().InFlight == 1 })
	began := time.Now()
	if r := b.post(t, `{"code":"1"}`); r.status != 429 || time.Since(began) > 20*time.Second {
		t.Errorf("status %d after %v", r.status, time.Since(began))
	}
	leave()
}

// leaver sends a request that does not end, and returns how to hang up.
func (b *bench) leaver(t *testing.T) func() {
	t.Helper()
	c := b.dial(t)
	body := `{"code":"1"}`
	c.send(t, head+"Content-Length: "+strconv.Itoa(len(body))+"\r\n\r\n"+body)
	return func() { _ = c.Close() }
}

func TestCallersWhoLeaveFreeTheirPlace(t *testing.T) {
	b := serve(t, func(s *service.Config, _ *Config) { s.Concurrency, s.Queue, s.Wait = 1, 10, time.Minute })
	b.runner.answer = slow(time.Minute)
	leaveSlot := b.leaver(t)
	eventually(t, "one runs", func() bool { return b.service.Load().InFlight == 1 })
	leaveRoom := b.leaver(t)
	eventually(t, "one waits", func() bool { return b.service.Load().Waiting == 1 })
	leaveRoom()
	eventually(t, "the waiting room is empty", func() bool { return b.service.Load().Waiting == 0 })
	leaveSlot()
	eventually(t, "the slot is free", func() bool { return b.service.Load().InFlight == 0 })

	if n := len(b.runner.ran()); n != 1 {
		t.Errorf("%d runs", n)
	}
	if log := b.log.String(); strings.Contains(log, `"level":"ERROR"`) || strings.Count(log, `"reason":"abandoned"`) != 1 {
		t.Errorf("log: %s", log)
	}
	b.runner.answer = nil
	if r := b.post(t, `{"code":"1"}`); r.status != 200 {
		t.Errorf("next request: status %d", r.status)
	}
}

func TestHealthWhileAllIsBusy(t *testing.T) {
	b := serve(t, func(s *service.Config, _ *Config) { s.Concurrency, s.Queue, s.Wait = 2, 100, time.Minute })
	b.runner.answer = slow(time.Minute)
	for range 10 {
		defer b.leaver(t)()
	}
	eventually(t, "the room fills", func() bool { return b.service.Load().Waiting == 8 })
	for range 20 {
		began := time.Now()
		if r := b.do(t, http.MethodGet, "/health", ""); r.status != 200 || time.Since(began) > 20*time.Second {
			t.Errorf("status %d after %v", r.status, time.Since(began))
		}
	}
}
