//go:build linux

package guard

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// published reads the numbers that package unix was generated with, for any
// architecture: the constants themselves exist for the host's alone.
func published(t *testing.T, goarch string) map[string]int {
	t.Helper()
	dir, err := unixDir()
	if err != nil {
		t.Skipf("no source of golang.org/x/sys to compare with: %v", err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "unix", "zsysnum_linux_"+goarch+".go"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int{}
	for _, m := range constant.FindAllStringSubmatch(string(text), -1) {
		out[strings.ToLower(m[1])], _ = strconv.Atoi(m[2])
	}
	if len(out) < 300 {
		t.Fatalf("%s: only %d numbers found", goarch, len(out))
	}
	return out
}

var constant = regexp.MustCompile(`(?m)^\s*SYS_(\w+)\s*=\s*(\d+)$`)

var unixDir = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/sys").Output()
	return strings.TrimSpace(string(out)), err
})

func TestNumbersAreThePublishedOnes(t *testing.T) {
	for goarch, a := range archs {
		known := published(t, goarch)
		for name, pair := range numbers {
			want, exists := known[name]
			if !exists {
				want = absent
			}
			if got := a.number(pair); got != want {
				t.Errorf("%s %s: %d, want %d", a.name, name, got, want)
			}
		}
	}
}

func TestEveryNumberIsUsed(t *testing.T) {
	used := map[string]bool{}
	for _, p := range []policy{templatePolicy(), childPolicy(noFiles), childPolicy(readOnly)} {
		for _, e := range p.entries {
			used[e.name] = true
		}
	}
	for name := range numbers {
		if !used[name] {
			t.Errorf("%s: no policy names it", name)
		}
	}
}
