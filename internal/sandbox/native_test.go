package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cloche/internal/snippet"
)

// nativeSource is an extension module that starts programs in every way that C
// has, below all that Python can watch, and says how it fared.
const nativeSource = `
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static int born(long pid) {
	if (pid == 0) {
		static const char word[] = "56-" "shell\n";
		(void)!write(1, word, sizeof word - 1);
		_exit(0);
	}
	return pid > 0;
}

void *PyInit_speed(void) {
	char line[80];
	int made = 0;
	(void)!system("echo $((7*8))-shell");
	made += born(fork());
	made += born(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
	made += born(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
	execl("/bin/sh", "sh", "-c", "echo $((7*8))-shell", (char *)0);
	int n = snprintf(line, sizeof line, "native code made %d processes\n", made);
	(void)!write(1, line, n);
	return 0;
}
`

func compileNative(t *testing.T) []byte {
	t.Helper()
	compiler, err := exec.LookPath("cc")
	if err != nil {
		if compiler, err = exec.LookPath("gcc"); err != nil {
			t.Skip("no C compiler here to make an extension module with")
		}
	}
	dir := t.TempDir()
	source, library := filepath.Join(dir, "speed.c"), filepath.Join(dir, "speed.so")
	if err := os.WriteFile(source, []byte(nativeSource), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(compiler, "-shared", "-fPIC", "-o", library, source).CombinedOutput(); err != nil {
		t.Skipf("%s makes no shared library: %v\n%s", compiler, err, out)
	}
	binary, err := os.ReadFile(library)
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

// Native code in the work folder is refused by the guard and, where the guard is
// passed, can start nothing.
func TestNativeModule(t *testing.T) {
	binary, started := compileNative(t), 0
	const write = "import pathlib\npathlib.Path('speed.so').write_bytes(pathlib.Path('data').read_bytes())\n"
	for _, c := range []struct{ name, file, code string }{
		{"plain name", "speed.so", "import speed"},
		{"stable name", "speed.abi3.so", "import speed"},
		{"in a package", "tools/speed.so", "from tools import speed"},
		{"written by the snippet", "data", write + "import speed"},
		{"from another folder", "data", "import sys, tempfile\n" + strings.ReplaceAll(write, "'speed.so'", "tempfile.gettempdir(), 'speed.so'") + "sys.path.insert(0, tempfile.gettempdir())\nimport speed"},
		{"by the loader", "speed.so", "import sys\nm = sys.modules['importlib.machinery']\nl = m.ExtensionFileLoader('speed', 'speed.so')\nl.create_module(m.ModuleSpec('speed', l, origin='speed.so'))"},
		{"by the interpreter", "speed.so", "import sys, types\nsys.modules['_imp'].create_dynamic(types.SimpleNamespace(name='speed', origin='speed.so'))"},
		{"by the foreign function interface", "speed.so", "import sys\nsys.modules['ctypes'].CDLL('./speed.so').PyInit_speed()"},
		{"by the database", "speed.so", "import sqlite3\nd = sqlite3.connect(':memory:')\nd.enable_load_extension(True)\nd.execute(\"select load_extension('./speed.so', 'PyInit_speed')\")"},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := job(c.code)
			j.Request.Files = []snippet.File{{Path: c.file, Content: binary}}
			r := shared.withFiles(t).run(t, j)
			wellFormed(t, r)
			if r.Outcome != snippet.Blocked && r.Outcome != snippet.Error || strings.Contains(r.Stdout, "native code") {
				t.Errorf("with the guard: %s (%s), stdout %q", r.Outcome, r.Reason, r.Stdout)
			}
			bare := unguarded.get(t)
			if !bare.layers.seccomp {
				return // nothing but the guard stands here
			}
			r = bare.run(t, j)
			started += strings.Count(r.Stdout, "native code made")
			if strings.Contains(r.Stdout, "56-shell") || strings.Contains(r.Stdout, "native code") && !strings.Contains(r.Stdout, "made 0 processes") {
				t.Errorf("without the guard: %s (%s), stdout %q", r.Outcome, r.Reason, r.Stdout)
			}
		})
	}
	if started == 0 && unguarded.get(t).layers.seccomp {
		t.Error("the module never ran, so nothing was tried")
	}
}
