package sandbox

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"cloche/internal/snippet"
)

// quiet keeps deliberate failures out of the test's output.
var quiet = Config{Workers: 2, Log: slog.New(slog.DiscardHandler)}

// A template that is killed takes the run in flight with it, which is the
// sandbox's fault and told so; the next run has another template, and nothing of
// the old one is left.
func TestTemplateKilled(t *testing.T) {
	s := newSandbox(t, quiet)
	s.run(t, job("print(1)")) // the first run opens what stays open
	before := s.settled(t, quiet.Workers)
	for range 3 {
		results := make(chan snippet.Result, 1)
		go func() {
			r, err := s.Run(context.Background(), job("print('begun')\nopen('begun', 'w').close()\nwhile True: pass"))
			if err != nil {
				t.Error(err)
			}
			results <- r
		}()
		s.awaitMarker(t, "begun")
		if err := s.living().cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		r := <-results
		wellFormed(t, r)
		if r.Reason != snippet.SandboxFailure || r.Stdout != "begun\n" || r.Hint == "" {
			t.Errorf("the run in flight: %s (%s), stdout %q", r.Outcome, r.Reason, r.Stdout)
		}
		if r := s.run(t, job("print(2)")); r.Stdout != "2\n" {
			t.Errorf("the next run: %s (%s)", r.Outcome, r.Reason)
		}
	}
	s.backTo(t, before)
}

// awaitMarker waits until a run has made a file of this name.
func (s *Sandbox) awaitMarker(t *testing.T, name string) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		for _, dir := range s.runFolders(t) {
			if _, err := os.Lstat(filepath.Join(dir, "work", name)); err == nil {
				return
			}
		}
	}
	t.Fatalf("no run made %s", name)
}

// Whatever runs do, the sandbox comes back to where it was: processes, zombies,
// descriptors, folders.
func TestNothingIsLeft(t *testing.T) {
	s := shared.get(t)
	codes := []string{
		"print(1)", "1/0", "import os", "while True: pass", "import time\ntime.sleep(9)",
		"import faulthandler\nfaulthandler._sigsegv()", "x = bytearray(1 << 32)",
		"import tempfile\nkeep = [tempfile.mkdtemp() for _ in range(200)]",
		"import pathlib\np = pathlib.Path(*['d'] * 30)\np.mkdir(parents=True)\n(p / 'f').write_text('x')\np.chmod(0)",
		"keep = [open('/dev/null') for _ in range(200)]",
		"import threading, time\n[threading.Thread(target=time.sleep, args=(9,), daemon=True).start() for _ in range(20)]",
	}
	run := func() {
		for _, code := range codes {
			j := job(code)
			j.Request.Timeout = 150 * time.Millisecond
			s.run(t, j)
		}
	}
	run()
	before := s.settled(t, fixtureWorkers)
	for range 3 {
		run()
	}
	s.backTo(t, before)
}

// The hashes of text are one template's secret: its children share them, no other
// start has them.
func TestHashesDifferBetweenStarts(t *testing.T) {
	const code = "print(hash('text'), hash(b'bytes'), list({'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'}))"
	var seen []string
	note := func(s *Sandbox) {
		first, second := s.run(t, job(code)).Stdout, s.run(t, job(code)).Stdout
		if first != second || first == "" {
			t.Errorf("two children of one template: %q and %q", first, second)
		}
		if slices.Contains(seen, first) {
			t.Errorf("two starts have the hashes %q", first)
		}
		seen = append(seen, first)
	}
	for range 2 {
		note(newSandbox(t, quiet))
	}
	s := newSandbox(t, quiet)
	note(s)
	if err := s.living().cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for s.run(t, job(code)).Stdout == seen[len(seen)-1] {
		time.Sleep(10 * time.Millisecond) // a child of the old one
	}
	note(s)
}

// Input files may have the names of the harness's own parts, or of modules that
// it uses after the snippet: they take no part in it.
func TestInputFilesNamedLikeTheHarness(t *testing.T) {
	s := shared.withFiles(t)
	names := []string{
		"__main__", "__init__", "main", "script", "snippet", "<snippet>", "<string>", "user_code", "runner", "boot", "bootstrap", "guard",
		"child", "template", "audit", "verdict", "refusal", "kernel", "imports", "cloche", "cloche_child", "cloche_verdict",
		"builtins", "sys", "os", "posix", "traceback", "linecache", "threading", "atexit", "codecs", "site",
	}
	var files []snippet.File
	for _, name := range names {
		files = append(files, snippet.File{Path: name + ".py", Content: []byte("print('theirs')\nraise SystemExit('theirs')\n")})
	}
	for _, c := range []struct {
		code   string
		reason snippet.Reason
	}{
		{"print('mine')", snippet.Completed},
		{"print('mine')\nimport socket", snippet.ImportDenied},
		{"print('mine')\nimport os", snippet.ImportDenied},
		{"print('mine')\n1/0", snippet.Exception},
		{"print('mine')\n)", snippet.SyntaxError},
	} {
		j := job(c.code)
		j.Request.Files = files
		r := s.run(t, j)
		wellFormed(t, r)
		want := "mine\n"
		if c.reason == snippet.SyntaxError {
			want = ""
		}
		if r.Reason != c.reason || r.Stdout != want || len(r.Files) != 0 {
			t.Errorf("%q: %s, stdout %q, stderr %q, files %d", c.code, r.Reason, r.Stdout, r.Stderr, len(r.Files))
		}
	}
}

// A run sees nothing of the one before.
func TestRunsAreStrangers(t *testing.T) {
	s := shared.get(t)
	leave := "import builtins, json, sys, random, tempfile, decimal, locale, warnings\n" +
		"builtins.left = json.left = sys.left = 'left'\n__builtins__.left = 'left'\nrandom.seed(1)\n" +
		"decimal.getcontext().prec = 3\nsys.setrecursionlimit(99)\nwarnings.simplefilter('error')\nsys.path.append('left')\n" +
		"tempfile.mkstemp(prefix='left')\nopen('left', 'w').close()\nprint('set')"
	look := "import builtins, json, sys, random, tempfile, decimal, pathlib\n" +
		"print([hasattr(m, 'left') for m in (builtins, json, sys, __builtins__)], decimal.getcontext().prec, sys.getrecursionlimit(), 'left' in sys.path,\n" +
		"      list(pathlib.Path().iterdir()), list(pathlib.Path(tempfile.gettempdir()).iterdir()))\nrandom.random()"
	values := map[string]bool{}
	for range 3 {
		if r := s.run(t, job(leave)); r.Stdout != "set\n" {
			t.Fatalf("%s (%s): %s", r.Outcome, r.Reason, r.Stderr)
		}
		r := s.run(t, job(look))
		if want := "[False, False, False, False] 28 1000 False [] []\n"; r.Stdout != want {
			t.Errorf("stdout %q, want %q; stderr %q", r.Stdout, want, r.Stderr)
		}
		values[orNull(r.Value)] = true
	}
	if len(values) != 3 {
		t.Errorf("three runs drew the same random numbers: %v", values)
	}
}

// Runs at the same time have their own folders, memory and output.
func TestRunsSideBySide(t *testing.T) {
	s := shared.withFiles(t)
	const side = 12
	results := make(chan error, side)
	for i := range side {
		go func() {
			r, err := s.Run(context.Background(), job(fmt.Sprintf("import time\nheld = bytearray(30 << 20)\nopen('same', 'w').write('%d')\ntime.sleep(0.1)\nprint(open('same').read(), len(held) >> 20)", i)))
			if want := fmt.Sprintf("%d 30\n", i); err == nil && r.Stdout != want {
				err = fmt.Errorf("%s (%s), stdout %q, want %q", r.Outcome, r.Reason, r.Stdout, want)
			}
			results <- err
		}()
	}
	for range side {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	s.settled(t, fixtureWorkers)
}
