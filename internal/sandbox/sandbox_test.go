package sandbox

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"cloche/internal/guard"
	"cloche/internal/snippet"
)

func TestMain(m *testing.M) {
	guard.Main()
	status := m.Run()
	if err := closeFixtures(); err != nil {
		fmt.Fprintln(os.Stderr, "close the tests' sandboxes:", err)
		status = 1
	}
	os.Exit(status)
}

// newSandbox starts a sandbox that the test ends.
func newSandbox(t testing.TB, cfg Config) *Sandbox {
	t.Helper()
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// job is a valid job with the defaults; change what the test is about. It has more
// time than callers who name none: the machine may be busy.
func job(code string) snippet.Job {
	return snippet.Job{
		ID: "test", Limits: snippet.DefaultLimits(), Policy: snippet.DefaultPolicy(),
		Request: snippet.Request{Code: code, Timeout: 20 * time.Second},
	}
}

// run runs a job that must reach a child.
func (s *Sandbox) run(t testing.TB, j snippet.Job) snippet.Result {
	t.Helper()
	r, err := s.Run(context.Background(), j)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestMainJob(t *testing.T) {
	s := newSandbox(t, Config{})
	r := s.run(t, job("print('hi')\n6*7"))
	if r.Outcome != snippet.OK || r.Reason != snippet.Completed || r.Stdout != "hi\n" || r.Value == nil || *r.Value != "42" {
		t.Errorf("got %+v", r)
	}
}
