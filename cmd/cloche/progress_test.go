//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal is a pseudo-terminal: what is written to its far end can be read
// from its near end (pts(4)).
func terminal(t *testing.T) (near, far *os.File) {
	t.Helper()
	near, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	t.Cleanup(func() { near.Close() })
	n, err := unix.IoctlGetInt(int(near.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(near.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	far, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	t.Cleanup(func() { far.Close() })
	return near, far
}

// until reads from a terminal up to a text at the end of what came.
func until(t *testing.T, near *os.File, end string) string {
	t.Helper()
	var got string
	for buf := make([]byte, 4096); !strings.HasSuffix(got, end); {
		n, err := near.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		got += string(buf[:n])
	}
	return strings.TrimSuffix(got, end)
}

func TestProgressOnATerminal(t *testing.T) {
	near, far := terminal(t)
	stop := progress(far, "running")
	time.Sleep(progressAfter + 3*progressEvery)
	stop()
	fmt.Fprint(far, "first")
	got := until(t, near, "first")
	if !strings.HasPrefix(got, clearLine+"cloche: running, 0.") || !strings.HasSuffix(got, " s"+clearLine) {
		t.Errorf("the terminal got %q", got)
	}
	stop = progress(far, "running")
	stop() // too quick to be shown
	fmt.Fprint(far, "second")
	if got := until(t, near, "second"); got != "" {
		t.Errorf("a quick wait showed %q", got)
	}
}

// A pipe or a file gets what the snippet wrote, whatever a terminal would get.
func TestNoProgressInPipes(t *testing.T) {
	slow := filepath.Join(t.TempDir(), "slow.py")
	if err := os.WriteFile(slow, []byte("import time\ntime.sleep(0.7)\nprint('out')"), 0o600); err != nil {
		t.Fatal(err)
	}
	work := workFolder(t)
	out, err := exec.Command("cloche", "run", "--work", work, slow).CombinedOutput()
	if err != nil || string(out) != "out\n" {
		t.Errorf("both pipes: %q, %v", out, err)
	}
	near, far := terminal(t)
	cmd := exec.Command("cloche", "run", "--work", work, slow)
	cmd.Stderr = far
	text, err := cmd.Output()
	if err != nil || string(text) != "out\n" {
		t.Errorf("standard output beside a terminal: %q, %v", text, err)
	}
	fmt.Fprint(far, "end")
	if got := until(t, near, "end"); !strings.Contains(got, "cloche: running, ") || !strings.HasSuffix(got, clearLine) {
		t.Errorf("the terminal got %q", got)
	}
}
