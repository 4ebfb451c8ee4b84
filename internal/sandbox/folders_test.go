package sandbox

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"cloche/internal/snippet"
)

// A run knows the name of its folder. Nobody else ever has that name: a name is
// what keeps stat out, which Landlock does not.
func TestNoFolderHasTheNameOfAnEarlierRun(t *testing.T) {
	s := newSandbox(t, Config{Workers: 1})
	var seen []string
	for range 30 {
		r := s.run(t, job("from pathlib import Path\nprint(Path.cwd())"))
		name := strings.TrimSpace(r.Stdout)
		if !strings.HasPrefix(name, s.base) || slices.Contains(seen, name) {
			t.Fatalf("folder %q after %q", name, seen)
		}
		seen = append(seen, name)
	}
	if s.reused.Load() == 0 {
		t.Error("no folder was used again: this shows nothing")
	}
}

// What a run did to its folders is not there for the next.
func TestTouchedFoldersAreNotUsedAgain(t *testing.T) {
	s := newSandbox(t, Config{})
	for _, touch := range []string{
		"open('a', 'w').close()", "import os\nos.mkdir('d')\nos.rmdir('d')", "import os\nopen('a', 'w').close()\nos.remove('a')",
	} {
		f, err := makeFolders(s.base, s.layers.identity)
		if err != nil {
			t.Fatal(err)
		}
		if !f.untouched() {
			t.Errorf("new folders do not count as untouched")
		}
		cmd := exec.Command(s.python.Executable, "-I", "-c", touch)
		cmd.Dir = f.work()
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if f.untouched() {
			t.Errorf("folders count as untouched after %q", touch)
		}
		s.broom.remove(f.dir)
	}
}

// Input files may arrive while a child still warms up.
func TestFilesArriveAtAnyMoment(t *testing.T) {
	s := newSandbox(t, Config{})
	j := job("print(open('in.txt').read())")
	j.Request.Files = []snippet.File{{Path: "in.txt", Content: []byte("given")}}
	for n := range 200 {
		time.Sleep(time.Duration(n%40) * 250 * time.Microsecond)
		if r := s.run(t, j); r.Outcome != snippet.OK || r.Stdout != "given\n" {
			t.Fatalf("run %d: %+v", n, r)
		}
	}
}
