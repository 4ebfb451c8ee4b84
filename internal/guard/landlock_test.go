//go:build linux

package guard

import (
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestPlanGrowsWithTheABI(t *testing.T) {
	const upToSym = 1<<13 - 1
	for _, tc := range []struct {
		abi             int
		fs, net, scope  uint64
		size            int
		refer, truncate bool
	}{
		{1, upToSym, 0, 0, 8, false, false},
		{2, upToSym | 1<<13, 0, 0, 8, true, false},
		{3, upToSym | 3<<13, 0, 0, 8, true, true},
		{4, upToSym | 3<<13, 3, 0, 16, true, true},
		{5, upToSym | 7<<13, 3, 0, 16, true, true},
		{6, upToSym | 7<<13, 3, 3, 24, true, true},
		{8, upToSym | 7<<13, 3, 3, 24, true, true},
		{9, upToSym | 15<<13, 3, 3, 24, true, true},
		{10, upToSym | 15<<13, 15, 3, 24, true, true},
		{99, upToSym | 15<<13, 15, 3, 24, true, true},
	} {
		p := PlanLandlock(tc.abi)
		if p.ABI != tc.abi || p.HandledFS != tc.fs || p.HandledNet != tc.net || p.Scoped != tc.scope || p.AttrSize != tc.size {
			t.Errorf("ABI %d: %+v", tc.abi, p)
		}
		if p.WriteTree&unix.LANDLOCK_ACCESS_FS_REFER != 0 != tc.refer || p.WriteFile&unix.LANDLOCK_ACCESS_FS_TRUNCATE != 0 != tc.truncate {
			t.Errorf("ABI %d: write rights %#x, %#x", tc.abi, p.WriteTree, p.WriteFile)
		}
	}
}

// fileRights are all that a rule on something other than a directory may name
// (landlock_add_rule(2), EINVAL).
const fileRights = execFile | writeFile | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV | unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX

func TestPlanRights(t *testing.T) {
	const special = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SYM |
		unix.LANDLOCK_ACCESS_FS_IOCTL_DEV | unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX
	for abi := range 12 {
		p := PlanLandlock(abi)
		for name, mask := range map[string]uint64{
			"read file": p.ReadFile, "read tree": p.ReadTree, "exec file": p.ExecFile, "exec tree": p.ExecTree,
			"write file": p.WriteFile, "write tree": p.WriteTree,
		} {
			if mask&^p.HandledFS != 0 || (mask == 0) != (abi == 0) {
				t.Errorf("ABI %d %s: %#x of %#x", abi, name, mask, p.HandledFS)
			}
			if strings.HasSuffix(name, "file") && mask&^fileRights != 0 {
				t.Errorf("ABI %d %s: %#x names a folder's right", abi, name, mask)
			}
			if !strings.HasPrefix(name, "exec") && mask&special != 0 {
				t.Errorf("ABI %d %s: %#x", abi, name, mask)
			}
		}
		if (p.ReadTree|p.ExecTree)&(writeTree&^readTree) != 0 {
			t.Errorf("ABI %d: reading writes", abi)
		}
	}
}

func TestNoABIIsTheZeroPlan(t *testing.T) {
	for _, abi := range []int{0, -1} {
		p := PlanLandlock(abi)
		if p != (LandlockPlan{}) {
			t.Errorf("ABI %d: %+v", abi, p)
		}
		if err := p.Restrict(LandlockRules{}); !errors.Is(err, ErrNoLandlock) {
			t.Errorf("ABI %d: %v, want ErrNoLandlock", abi, err)
		}
	}
}

func TestPlanAsJSON(t *testing.T) {
	got, err := json.Marshal(PlanLandlock(1))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"abi":1,"handled_fs":8191,"handled_net":0,"scoped":0,"attr_size":8,` +
		`"read_file":4,"read_tree":12,"exec_file":5,"exec_tree":13,"write_file":6,"write_tree":446}`
	if string(got) != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestRestrictNamesTheMissingPath fails before anything is enforced, so it
// needs no child.
func TestRestrictNamesTheMissingPath(t *testing.T) {
	abi := needLandlock(t, 1)
	missing := filepath.Join(t.TempDir(), "gone")
	err := PlanLandlock(abi).Restrict(LandlockRules{Read: []string{missing}})
	if !errors.Is(err, unix.ENOENT) || !strings.Contains(err.Error(), missing) {
		t.Errorf("%v, want ENOENT and the path", err)
	}
}

func TestInterpreter(t *testing.T) {
	for _, name := range []string{"true", "sh"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Skipf("no program to look at: %v", err)
		}
		loader, err := Interpreter(path)
		if err != nil || loader != "" && !filepath.IsAbs(loader) {
			t.Errorf("%s: %q, %v", path, loader, err)
		}
	}
	if _, err := Interpreter("/dev/null"); err == nil {
		t.Error("an empty file: no error")
	}
}
