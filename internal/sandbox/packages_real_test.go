package sandbox

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"cloche/internal/snippet"
)

// realPackages names the Python, with numpy and matplotlib among its packages,
// that the tests of these use; `make test-packages` makes one. Without it they
// are left out.
const realPackages = "CLOCHE_PACKAGES"

// pythonWithPackages is that Python.
func pythonWithPackages(t *testing.T) string {
	t.Helper()
	python := os.Getenv(realPackages)
	if python == "" {
		t.Skip(realPackages + " names no Python with numpy; make test-packages does")
	}
	return python
}

// withNumpy starts a sandbox that preloads what it finds, as a server does.
func withNumpy(t *testing.T, cfg Config) *Sandbox {
	t.Helper()
	cfg.Python, cfg.Preload, cfg.Log = pythonWithPackages(t), []string{AutoPreload}, quiet.Log
	s := newSandbox(t, cfg)
	if !slices.Equal(s.packages.loaded, []string{"numpy"}) {
		t.Fatalf("loaded %q", s.packages.loaded)
	}
	return s
}

// numpy works alike whatever the kernel refuses.
func TestNumpy(t *testing.T) {
	for _, step := range ladders {
		t.Run(step.name, func(t *testing.T) {
			step.needUser(t)
			s := withNumpy(t, Config{Sole: step.sole, weaken: step.weaken})
			for code, want := range map[string]string{
				"import numpy\nm = numpy.arange(10000.0).reshape(100, 100)\nprint(float((m @ m).sum()))":                   "25078325250000.0\n",
				"import numpy as np\nprint(np.linalg.solve([[2.0, 0], [0, 4]], [1, 1]), np.fft.fft([1, 1, 1, 1])[0].real)": "[0.5  0.25] 4.0\n",
			} {
				if got := s.printed(t, code); got != want {
					t.Errorf("%q printed %q", code, got)
				}
			}
			found, err := s.Packages(t.Context())
			at := slices.IndexFunc(found.List, func(p snippet.Package) bool { return p.Module == "numpy" })
			if err != nil || at < 0 || !found.List[at].Preloaded || found.List[at].Version == "" {
				t.Errorf("packages %+v, %v", found, err)
			}
		})
	}
}

// No run repeats what another one drew, whichever generator it asks; and who
// gives a seed gets the numbers of that seed.
func TestNumpyRandomNumbersAreARunsOwn(t *testing.T) {
	s := withNumpy(t, Config{})
	seen := map[string]bool{}
	const runs, each = 12, 6
	for range runs {
		out := s.printed(t, `import random, numpy as np
print(np.random.standard_normal(), np.random.rand(), np.random.randint(1 << 62), np.random.default_rng().random(), np.random.RandomState().rand(), random.random())`)
		for number := range strings.FieldsSeq(out) {
			seen[number] = true
		}
	}
	if len(seen) != runs*each {
		t.Errorf("%d of %d numbers are different", len(seen), runs*each)
	}
	if got := s.printed(t, "import numpy as np\nnp.random.seed(1)\nprint(np.random.rand())"); got != "0.417022004702574\n" {
		t.Errorf("with a seed: %q", got)
	}
}

// What numpy has taken before a run is not the run's: it has all of its limit.
func TestNumpyMemory(t *testing.T) {
	s := withNumpy(t, Config{})
	for code, want := range map[string]snippet.Reason{
		"import numpy as np\nx = np.ones(200_000_000, np.uint8)\nx.sum()":                                   snippet.Completed,
		"import numpy as np\nx = np.ones(300_000_000, np.uint8)\nx.sum()":                                   snippet.MemoryLimit,
		"x = bytearray(200_000_000)\nlen(x)":                                                                snippet.Completed,
		"x = bytearray(300_000_000)\nlen(x)":                                                                snippet.MemoryLimit,
		"import numpy as np\na = np.ones((100, 100))\n(a @ a)\nx = np.ones(200_000_000, np.uint8)\nx.sum()": snippet.Completed,
		"import numpy as np\nx = []\nwhile True: x.append(np.ones(1000))":                                   snippet.MemoryLimit,
	} {
		r := s.run(t, job(code))
		if r.Reason != want || r.PeakMemoryBytes < 10<<20 || want == snippet.MemoryLimit && (r.Error == nil || r.Hint == "") {
			t.Errorf("%q: %s, peak %d, error %+v", code, r.Reason, r.PeakMemoryBytes, r.Error)
		}
	}
}

// numpy writes and reads files by what it imports for itself, which a snippet
// may not.
func TestNumpyToFile(t *testing.T) {
	s := withNumpy(t, Config{})
	r := s.run(t, job("import numpy as np\nnp.arange(5).tofile('x.bin')\nprint(np.fromfile('x.bin', dtype=int).sum())"))
	if r.Reason != snippet.Completed || r.Stdout != "10\n" || len(r.Files) != 1 || r.Files[0].Size != 40 {
		t.Errorf("%+v", r)
	}
}

// A large product runs on one core: the machine is shared, and a child's threads
// count.
func TestNumpyIsSingleThreaded(t *testing.T) {
	s := withNumpy(t, Config{})
	const code = `import numpy as np, pathlib
a = np.ones((600, 600))
(a @ a), np.linalg.inv(a + np.eye(600))
print(pathlib.Path('/proc/self/task').stat().st_nlink - 2)`
	if got := s.printed(t, code); got != "1\n" {
		t.Errorf("%q threads", got)
	}
}

func TestNumpyFiles(t *testing.T) {
	s := withNumpy(t, Config{})
	if s.layers.wall == wallNoFiles {
		t.Skip("this machine has no file wall, so runs have no files")
	}
	j := job(`import numpy as np
table = np.loadtxt('in.csv', delimiter=',')
np.save('out.npy', table * 2)
print(np.load('out.npy').tolist(), np.memmap('raw', dtype='u1', mode='w+', shape=8).size)`)
	j.Request.Files = []snippet.File{{Path: "in.csv", Content: []byte("1,2\n3,4\n")}}
	if r := s.run(t, j); r.Stdout != "[[2.0, 4.0], [6.0, 8.0]] 8\n" || len(r.Files) != 2 {
		t.Errorf("%s (%s), stdout %q, stderr %q, files %+v", r.Outcome, r.Reason, r.Stdout, r.Stderr, r.Files)
	}
}

// A run that has numpy already does not read it again.
func TestNumpyIsThereAtOnce(t *testing.T) {
	s := withNumpy(t, Config{})
	const code = "import time\nt = time.process_time()\nimport numpy.random, numpy.linalg, numpy.fft\nprint(time.process_time() - t)"
	least := 1.0
	for range 5 {
		took, err := strconv.ParseFloat(strings.TrimSpace(s.printed(t, code)), 64)
		if err != nil {
			t.Fatal(err)
		}
		least = min(least, took)
	}
	if least > 0.005 {
		t.Errorf("the import takes %f s of CPU", least)
	}
}

// The same as an ordinary user, who has no identity to give to snippets.
func TestNumpyAsAnOrdinaryUser(t *testing.T) {
	const turn = "CLOCHE_TEST_NUMPY_USER"
	if os.Getenv(turn) != "" {
		s := withNumpy(t, Config{})
		if got := s.printed(t, "import numpy\nprint(numpy.ones(3).sum())"); got != "3.0\n" {
			t.Errorf("printed %q", got)
		}
		return
	}
	pythonWithPackages(t)
	if os.Geteuid() == 0 && !mayActForOthers() {
		t.Skip("NOT TESTED: this root cannot become another user")
	}
	if text, err := ordinary().command(t, turn+"=1").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
}

// matplotlib writes while it loads, and looks for fonts with programs and in
// folders that no run may use. Preloaded, it has done so before the first run.
func TestMatplotlib(t *testing.T) {
	s := newSandbox(t, Config{Python: pythonWithPackages(t), Preload: []string{"matplotlib"}, Log: quiet.Log})
	if s.layers.wall == wallNoFiles {
		t.Skip("this machine has no file wall, so runs have no files")
	}
	r := s.run(t, job("import matplotlib.pyplot as plt\nplt.plot([1, 4, 9])\nplt.title('grüße')\nplt.savefig('plot.png')"))
	if r.Outcome != snippet.OK || r.Stderr != "" || r.BlockedCount != 0 || len(r.Files) != 1 || r.Files[0].MediaType != "image/png" {
		t.Errorf("%s (%s), stderr %q, refused %+v, files %d", r.Outcome, r.Reason, r.Stderr, r.Blocked, len(r.Files))
	}
}
