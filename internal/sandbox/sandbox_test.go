package sandbox

import (
	"context"
	"encoding/json"
	"os"
	"testing"
	"time"

	"cloche/internal/guard"
	"cloche/internal/snippet"
)

func TestMain(m *testing.M) {
	guard.Main()
	os.Exit(m.Run())
}

func newSandbox(t testing.TB) *Sandbox {
	t.Helper()
	s, err := New(Config{})
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

func runCode(t testing.TB, s *Sandbox, code string) snippet.Result {
	t.Helper()
	r, err := s.Run(context.Background(), snippet.Job{
		ID: "test", Limits: snippet.DefaultLimits(), Policy: snippet.DefaultPolicy(),
		Request: snippet.Request{Code: code, Timeout: 5 * time.Second},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestPrint(t *testing.T) {
	s := newSandbox(t)
	for _, code := range []string{"print('hi')\n1+1", "import os", "def f():\n  1/0\nf()", "import sys;sys.exit(3)", "open('a.txt','w').write('x')", "while True: pass", "x=("} {
		r := runCode(t, s, code)
		b, _ := json.MarshalIndent(r, "", " ")
		t.Logf("%s\n%s", code, b)
	}
}

func BenchmarkPrint(b *testing.B) {
	s := newSandbox(b)
	time.Sleep(300 * time.Millisecond)
	for b.Loop() {
		runCode(b, s, "print(1)")
		b.StopTimer()
		time.Sleep(12*time.Millisecond)
		b.StartTimer()
	}
}
