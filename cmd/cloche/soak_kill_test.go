//go:build linux && soak

package main

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"cloche/internal/metrics"
)

// soakKills is how often the server is killed under load.
const soakKills = 20

// youngFolder is the age from which a start removes what a killed server left.
const youngFolder = 11 * time.Second

// Whatever was answered is in the records after the server was killed, and
// counted once.
func TestSoakKilled(t *testing.T) {
	buildServer(t)
	data, work := filepath.Join(t.TempDir(), "data"), workFolder(t)
	var answered []string
	for kill := range soakKills {
		s := startServerIn(t, data, work)
		check(t, s, answered)
		ids, below := killUnderLoad(t, s, uint64(kill))
		answered = append(answered, ids...)
		waitFor(t, "its processes are gone", func() bool {
			return !slices.ContainsFunc(below, func(p task) bool { return !gone(p) })
		})
	}
	time.Sleep(youngFolder) // what is younger may belong to a server that just starts
	s := startServerIn(t, data, work)
	check(t, s, answered)
	s.signal(t)
	if status := s.end(t, 10*time.Second); status != 0 || len(s.leftovers(t)) > 0 {
		t.Errorf("status %d, left in the work folder: %v", status, s.leftovers(t))
	}
	t.Logf("%d runs were answered between %d kills", len(answered), soakKills)
}

// killUnderLoad returns the ids of the answers that came and the processes that
// the server had.
func killUnderLoad(t *testing.T, s *server, seed uint64) (answered []string, below []task) {
	t.Helper()
	var callers sync.WaitGroup
	var mu sync.Mutex
	for caller := range soakCallers {
		callers.Go(func() {
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for _, l := range mixed(5000, seed<<8|uint64(caller)) {
				r, err := l.send(client, s.url)
				if err != nil {
					return // the server is dead
				}
				mu.Lock()
				answered = append(answered, r.ID)
				mu.Unlock()
			}
		})
	}
	time.Sleep(time.Second + rand.N(time.Second))
	below = descendants(s.cmd.Process.Pid)
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	callers.Wait()
	_ = s.cmd.Wait()
	return answered, below
}

// check holds the records against the answers, and the sums against the records.
func check(t *testing.T, s *server, answered []string) {
	t.Helper()
	recorded := map[string]bool{}
	for cursor := ""; ; {
		_, text := s.ask(t, http.MethodGet, "/events?limit=1000"+cursor, "")
		var page metrics.Page
		if err := json.Unmarshal([]byte(text), &page); err != nil {
			t.Fatal(err)
		}
		for _, e := range page.Events {
			if recorded[e.ID] {
				t.Errorf("%s is there twice", e.ID)
			}
			recorded[e.ID] = true
		}
		if page.Next == "" {
			break
		}
		cursor = "&cursor=" + url.QueryEscape(page.Next)
	}
	for _, id := range answered {
		if !recorded[id] {
			t.Errorf("the answered run %s is not recorded", id)
		}
	}
	if got := s.counted(t); got.Executions != int64(len(recorded)) {
		t.Errorf("%d runs are counted, %d recorded", got.Executions, len(recorded))
	}
}
