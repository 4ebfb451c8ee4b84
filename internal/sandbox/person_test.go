package sandbox

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// person is who a helper process of a test is: root, or an ordinary user.
type person struct {
	who string
	uid int
}

// otherUID is an ordinary user for tests that root runs: nobody's, like ownUID.
const otherUID = 59751

// persons are those that this process can be: root can be anybody.
func persons() []person {
	if os.Geteuid() != 0 {
		return []person{{asUser, os.Geteuid()}}
	}
	return []person{{asRoot, 0}, {asUser, otherUID}}
}

// ordinary is the person without any privilege.
func ordinary() person { return persons()[len(persons())-1] }

// folder makes a folder that belongs to the person.
func (p person) folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "person-")
	if err == nil {
		err = os.Chown(dir, p.uid, p.uid)
	}
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// command runs the calling test again, as the person, in a process of its own
// with a temporary folder of its own. The program is copied, since the go
// command's own folder is closed to others.
func (p person) command(t *testing.T, env ...string) *exec.Cmd {
	t.Helper()
	dir := p.folder(t)
	program := filepath.Join(dir, "test")
	copySelf(t, program)
	cmd := exec.Command(program, "-test.run=^"+t.Name()+"$", "-test.count=1")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), append(env, "TMPDIR="+dir, "HOME="+dir)...)
	p.become(cmd)
	return cmd
}

// become makes cmd run as the person.
func (p person) become(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if p.uid != os.Geteuid() {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(p.uid), Gid: uint32(p.uid)}
	}
}

// copySelf copies this program. No process may be forked meanwhile: it would
// hold the copy open for writing, which keeps it from being run (execve(2), ETXTBSY).
func copySelf(t *testing.T, to string) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	from, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, from); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(to, 0o755); err != nil {
		t.Fatal(err)
	}
}
