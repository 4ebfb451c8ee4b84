package sandbox

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloche/internal/snippet"
)

// withPackages makes a Python that has these files among its packages, and
// returns its executable. It is a virtual environment, which is no more than a
// link beside a file that says where the real one is.
func withPackages(t *testing.T, files map[string]string) string {
	t.Helper()
	real := shared.get(t).python
	dir, err := os.MkdirTemp("", "packages-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	site := fmt.Sprintf("lib/python%d.%d/site-packages/", real.Major, real.Minor)
	config := "home = " + filepath.Dir(real.Executable) + "\ninclude-system-site-packages = false\n"
	all := map[string]string{"pyvenv.cfg": config, "bin/": "", site: ""}
	for name, text := range files {
		all[site+name] = text
	}
	for name, text := range all {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil && strings.HasSuffix(name, "/") {
			err = os.MkdirAll(path, 0o755)
		} else if err == nil {
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	python := filepath.Join(dir, "bin/python")
	if err := os.Symlink(real.Executable, python); err != nil {
		t.Fatal(err)
	}
	return python
}

// changePackage writes a file among the packages of a Python that withPackages made.
func changePackage(t *testing.T, python, name, text string) {
	t.Helper()
	site, err := filepath.Glob(filepath.Dir(filepath.Dir(python)) + "/lib/*/site-packages")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(site[0], name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// stamp is a module that tells when it was loaded.
const stamp = "import time\nloaded = time.monotonic_ns()\n"

// printed is what a snippet that must end well writes.
func (s *Sandbox) printed(t *testing.T, code string) string {
	t.Helper()
	r := s.run(t, job(code))
	if r.Outcome != snippet.OK || r.BlockedCount != 0 {
		t.Fatalf("%s (%s), stderr %q, refused %+v", r.Outcome, r.Reason, r.Stderr, r.Blocked)
	}
	return r.Stdout
}

func TestPreload(t *testing.T) {
	python := withPackages(t, map[string]string{"tally.py": stamp, "kit/__init__.py": "", "kit/part.py": stamp})
	const code = "import tally, kit.part\nprint(tally.loaded, kit.part.loaded)"
	s := newSandbox(t, Config{Python: python, Preload: []string{"tally", "kit.part"}, Log: quiet.Log})
	first := s.printed(t, code)
	if second := s.printed(t, code); second != first {
		t.Errorf("loaded at %s and again at %s", first, second)
	}
	if !slices.Equal(s.packages.loaded, []string{"tally", "kit.part"}) {
		t.Errorf("loaded %q", s.packages.loaded)
	}
	s = newSandbox(t, Config{Python: python, Log: quiet.Log})
	if first, second := s.printed(t, code), s.printed(t, code); first == second {
		t.Errorf("without being asked for, loaded once at %s", first)
	}
}

// A module of the work folder comes before one of the same name that is
// preloaded, as it would in a script's own folder.
func TestPreloadedIsShadowed(t *testing.T) {
	python := withPackages(t, map[string]string{"tally.py": stamp})
	s := newSandbox(t, Config{Python: python, Preload: []string{"tally"}, Log: quiet.Log})
	if s.layers.wall == wallNoFiles {
		t.Skip("this machine has no file wall, so runs have no files")
	}
	j := job("import tally\nprint(tally.mine)")
	j.Request.Files = []snippet.File{{Path: "tally.py", Content: []byte("mine = True")}}
	for n := range 60 { // also while a child rehearses, which must not take the run's files for its own
		time.Sleep(time.Duration(n%20) * 200 * time.Microsecond)
		if r := s.run(t, j); r.Stdout != "True\n" {
			t.Fatalf("run %d: %s (%s), stdout %q, stderr %q", n, r.Outcome, r.Reason, r.Stdout, r.Stderr)
		}
	}
}

// A package that was asked for by name and cannot be had keeps the sandbox from
// starting, is named, and leaves nothing behind.
func TestUnloadable(t *testing.T) {
	python := withPackages(t, map[string]string{
		"raises.py":  "raise ValueError('bad luck')",
		"leaves.py":  "import sys\nsys.exit(3)",
		"threads.py": "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()",
		"dies.py":    "import os\nos._exit(3)",
		"keeps.py":   "file = open(__file__)",
		"many.py":    "raise ImportError('first\\nsecond')",
		"fine.py":    "file = open(__file__)\nself = [file]\nself.append(self)\ndel self, file",
	})
	for name, want := range map[string]string{
		"nosuch":      "nosuch cannot be preloaded: ModuleNotFoundError",
		"fine.nosuch": "fine.nosuch cannot be preloaded: ModuleNotFoundError",
		"raises":      "raises cannot be preloaded: ValueError: bad luck",
		"leaves":      "leaves cannot be preloaded: SystemExit",
		"threads":     "threads cannot be preloaded: it leaves threads",
		"dies":        "--preload fine,dies",
		"keeps":       "keeps cannot be preloaded: it keeps files open",
		"many":        "many cannot be preloaded: ImportError: first second",
		"requests":    "requests cannot be preloaded: snippets may not import it, since it opens network connections",
		"os":          "os cannot be preloaded",
		"urllib3.x":   "urllib3.x cannot be preloaded",
	} {
		work := (person{uid: os.Geteuid()}).folder(t)
		s, err := New(Config{Python: python, Preload: []string{"fine", name}, WorkBase: work, Workers: 1, Log: quiet.Log})
		if err == nil {
			_ = s.Close()
			t.Errorf("%s: no error", name)
		} else if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %q does not say %q", name, err, want)
		}
		if left, err := os.ReadDir(work); err != nil || len(left) > 0 {
			t.Errorf("%s: %v left behind, %v", name, left, err)
		}
	}
}

// A usual package that does not load is not there for the template, and hinders
// nobody; a snippet that imports it sees why.
func TestAutoPreloadNeverHinders(t *testing.T) {
	for name, source := range map[string]string{
		"raises":  "raise ImportError('of another machine')",
		"threads": "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()",
		"dies":    "import os\nos.abort()",
	} {
		t.Run(name, func(t *testing.T) {
			python := withPackages(t, map[string]string{"numpy.py": source})
			s := newSandbox(t, Config{Python: python, Preload: []string{AutoPreload}, Workers: 1, Log: quiet.Log})
			if out := s.printed(t, "import sys\nprint('numpy' in sys.modules)"); out != "False\n" || len(s.packages.loaded) > 0 {
				t.Errorf("in the child: %q, loaded %q", out, s.packages.loaded)
			}
			want := []snippet.Package{{Module: "numpy"}}
			if found, err := s.Packages(t.Context()); err != nil || !cmp.Equal(found.List, want) {
				t.Errorf("packages %+v, %v", found, err)
			}
		})
	}
	s := newSandbox(t, Config{Python: withPackages(t, nil), Preload: []string{AutoPreload}, Workers: 1, Log: quiet.Log})
	if found, err := s.Packages(t.Context()); err != nil || len(found.List) > 0 {
		t.Errorf("where nothing is installed: %+v, %v", found, err)
	}
}

// Neither does one that stops loading while the server runs, as in the middle of
// an upgrade; what is listed is what the new template has.
func TestAutoPreloadIsGivenUp(t *testing.T) {
	python := withPackages(t, map[string]string{
		"numpy/__init__.py": `
class Table:
    def reshape(self, *_): return self
    def __matmul__(self, _): return self
    def sum(self): return 0.0
def arange(_): return Table()
def frombuffer(*_): pass
uint32 = None
`,
		"numpy/linalg.py": "", "numpy/fft.py": "", "numpy/random.py": "def set_state(_): pass",
	})
	s := newSandbox(t, Config{Python: python, Preload: []string{AutoPreload}, Workers: 1, Log: quiet.Log})
	if found, err := s.Packages(t.Context()); err != nil || !found.List[0].Preloaded {
		t.Fatalf("%+v, %v", found, err)
	}
	changePackage(t, python, "numpy/__init__.py", "raise ImportError('half of it')")
	s.living().kill()
	s.fine(t) // from a child that waited, or from the new template
	s.fine(t)
	want := []snippet.Package{{Module: "numpy"}}
	if found, err := s.Packages(t.Context()); err != nil || !cmp.Equal(found.List, want) {
		t.Errorf("packages %+v, %v", found, err)
	}
}

// A package may close the folders that it makes; the next template needs the same.
func TestPreloadedClosesItsFolder(t *testing.T) {
	python := withPackages(t, map[string]string{"tight.py": `
import pathlib
folder = pathlib.Path.home() / "cache"
folder.mkdir()
(folder / "x").write_text("x")
folder.chmod(0o500)
`})
	s := newSandbox(t, Config{Python: python, Preload: []string{"tight"}, Workers: 1, Log: quiet.Log})
	s.living().kill()
	s.fine(t)
	s.fine(t)
	if left, err := filepath.Glob(s.base + "/home-*"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

// Closing does not wait for a template that takes its time to load.
func TestCloseEndsALoadingTemplate(t *testing.T) {
	python := withPackages(t, map[string]string{"slow.py": "import os, time\ntime.sleep(60 if os.path.exists(__file__ + '.slow') else 0)"})
	s, err := New(Config{Python: python, Preload: []string{"slow"}, Workers: 1, Log: quiet.Log, wear: wear{runs: 2, age: time.Hour}})
	if err != nil {
		t.Fatal(err)
	}
	changePackage(t, python, "slow.py.slow", "")
	for s.turning.Load() == 0 {
		s.fine(t)
	}
	time.Sleep(500 * time.Millisecond) // until it sleeps; earlier shows as much
	began := time.Now()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > templateStart/2 {
		t.Errorf("closing took %v", took)
	}
}

// Packages that write while they load, or that end a thread late, can be
// preloaded, and what they wrote to is gone before the first run.
func TestPreloadedWithAHome(t *testing.T) {
	python := withPackages(t, map[string]string{"plots.py": `
import pathlib, tempfile, threading
home = pathlib.Path.home()
(home / ".cache").mkdir()
(home / ".cache/fonts").write_text("x")
temporary = tempfile.mkdtemp()
threading.Timer(60, print).start()
threading.enumerate()[-1].cancel()
`})
	s := newSandbox(t, Config{Python: python, Preload: []string{"plots"}, Workers: 1, Log: quiet.Log})
	got := s.printed(t, `import pathlib, plots, tempfile
print(plots.home.exists(), str(plots.home) in plots.temporary, tempfile.gettempdir() in plots.temporary)
print(pathlib.Path.home() == plots.home, pathlib.Path.home().is_dir())`)
	if got != "False True False\nFalse True\n" {
		t.Errorf("the child sees %q", got)
	}
	if left, err := filepath.Glob(s.base + "/home-*"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

// C code opens files without an event, also such as was loaded before the run.
// They are closed at its end all the same.
func TestFilesOfCCodeAreWhole(t *testing.T) {
	if r := shared.withFiles(t).run(t, job("import dbm.ndbm")); r.Outcome != snippet.OK {
		t.Skipf("this Python has no ndbm: %s", r.Stderr)
	}
	for name, preload := range map[string][]string{"loaded by the run": nil, "loaded before": {"dbm.ndbm"}} {
		s := newSandbox(t, Config{Preload: preload, Workers: 1, Log: quiet.Log})
		for _, code := range []string{
			"import dbm.ndbm\nd = dbm.ndbm.open('a', 'c')\nd['key'] = 'v' * 50",
			"import shelve\nd = shelve.open('a')\nd['key'] = 'v' * 50",
		} {
			r := s.run(t, job(code))
			whole := slices.ContainsFunc(r.Files, func(f snippet.Artifact) bool {
				if f.Content == nil {
					return false
				}
				content := []byte(*f.Content)
				if f.Encoding == "base64" {
					content, _ = base64.StdEncoding.DecodeString(*f.Content)
				}
				return bytes.Contains(content, bytes.Repeat([]byte("v"), 50))
			})
			if r.Outcome != snippet.OK || !whole {
				t.Errorf("%s: the file came out short: %+v", name, r)
			}
		}
	}
}

// A package that is installed while a server runs is listed after a while.
func TestListingGrowsOld(t *testing.T) {
	python := withPackages(t, nil)
	s := newSandbox(t, Config{Python: python, Log: quiet.Log})
	if s.layers.wall == wallNoFiles {
		t.Skip("no snippet sees a package here")
	}
	if s.listing.age != listAge {
		t.Errorf("a listing is good for %s, want %s", s.listing.age, listAge)
	}
	s.listing.age = time.Millisecond
	listed := func() (modules []string) {
		t.Helper()
		found, err := s.Packages(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range found.List {
			modules = append(modules, p.Module)
		}
		return modules
	}
	if found := listed(); len(found) > 0 {
		t.Fatalf("there are %q", found)
	}
	changePackage(t, python, "late.py", "")
	for end := time.Now().Add(10 * time.Second); !slices.Contains(listed(), "late"); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a new package is not listed")
		}
	}
}

func TestPackages(t *testing.T) {
	python := withPackages(t, map[string]string{
		"tally.py": stamp, "Tally-1.2.dist-info/METADATA": "Metadata-Version: 2.1\nName: Tally\nVersion: 1.2\n\nName: no\n",
		"Tally-1.2.dist-info/RECORD": "tally.py,sha256=x,12\n../../../bin/tally,,\nTally-1.2.dist-info/RECORD,,\ngone.py,,\n",
		"kit/__init__.py":            "", "_speedups.py": "", "kit-3.egg-info/PKG-INFO": "Name: kit\nVersion: 3\n",
		"kit-3.egg-info/top_level.txt": "kit\n_speedups\nnot_there\n",
		"space/part.py":                "", "space_part-1.dist-info/METADATA": "Name: space-part\nVersion: 1!2.0+x\n",
		"space_part-1.dist-info/RECORD": "space/part.py,,\n", "broken-1.dist-info/RECORD": "\x00/,,\n",
		"alone.py": "", "requests/__init__.py": "", "json.py": "", "größe.py": "", "sitecustomize.py": "",
	})
	s := newSandbox(t, Config{Python: python, Preload: []string{"tally"}, Log: quiet.Log})
	if r := s.Runtime(); len(r.Packages.List) > 0 {
		t.Errorf("known before anybody looked: %+v", r.Packages)
	}
	found, err := s.Packages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := snippet.Packages{List: []snippet.Package{
		{Module: "alone"},
		{Module: "kit", Distribution: "kit", Version: "3"},
		{Module: "requests"},
		{Module: "space", Distribution: "space-part", Version: "1!2.0+x"},
		{Module: "tally", Distribution: "Tally", Version: "1.2", Preloaded: true},
	}}
	if s.layers.wall == wallNoFiles {
		want = snippet.Packages{List: []snippet.Package{{Module: "tally", Preloaded: true}}}
	}
	if d := cmp.Diff(want, found); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if r := s.Runtime(); !cmp.Equal(r.Packages, found) {
		t.Errorf("afterwards the runtime has %+v", r.Packages)
	}
}

func TestPackagesAreBounded(t *testing.T) {
	files := map[string]string{}
	for n := range snippet.MaxPackages + 7 {
		files[fmt.Sprintf("m%04d.py", n)] = ""
	}
	files[strings.Repeat("m", snippet.MaxPackageText+1)+".py"] = ""
	s := newSandbox(t, Config{Python: withPackages(t, files), Workers: 1, Log: quiet.Log})
	if s.layers.wall == wallNoFiles {
		t.Skip("this machine has no file wall, so runs see no files")
	}
	found, err := s.Packages(t.Context())
	if err != nil || len(found.List) != snippet.MaxPackages || found.Omitted != 7 {
		t.Errorf("%d listed, %d omitted, %v", len(found.List), found.Omitted, err)
	}
}

// What is preloaded is there for snippets whatever keeps files from them.
func TestPreloadOnTheLadder(t *testing.T) {
	python := withPackages(t, map[string]string{"tally.py": stamp + "__version__ = '1.2'", "other.py": ""})
	for _, step := range ladders {
		t.Run(step.name, func(t *testing.T) {
			step.needUser(t)
			s := newSandbox(t, Config{Python: python, Preload: []string{"tally"}, Workers: 1, Log: quiet.Log, Sole: step.sole, weaken: step.weaken})
			if first, second := s.printed(t, "import tally\nprint(tally.loaded)"), s.printed(t, "import tally\nprint(tally.loaded)"); first != second {
				t.Errorf("loaded at %s and at %s", first, second)
			}
			found, err := s.Packages(t.Context())
			want := []snippet.Package{{Module: "other"}, {Module: "tally", Preloaded: true}}
			if s.layers.wall == wallNoFiles {
				want = []snippet.Package{{Module: "tally", Version: "1.2", Preloaded: true}}
			}
			if d := cmp.Diff(want, found.List); d != "" || err != nil {
				t.Errorf("packages %v (-want +got):\n%s", err, d)
			}
		})
	}
}
