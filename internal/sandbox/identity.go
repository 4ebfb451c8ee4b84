package sandbox

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"
)

// ownUID is the user and group that snippets run as when the server is root. It
// is nobody else's: 65534 is shared with every other program that drops rights.
// It lies in the range of ordinary users and below the ones that systemd hands
// out (61184 and up).
const ownUID = 59742

// identity is who snippets run as.
type identity struct {
	uid, gid int
	masked   bool // the server may look into their processes only as them
}

// childIdentity is a user of its own for a root that may act for another user,
// and the server's own user otherwise. Tests that sweep by user need another one
// than ownUID, which sandboxes beside them have.
func childIdentity(other int) identity {
	if os.Geteuid() == 0 && mayActForOthers() {
		uid := cmp.Or(other, ownUID)
		return identity{uid, uid, !holds(1 << unix.CAP_SYS_PTRACE)}
	}
	return identity{uid: os.Geteuid(), gid: os.Getegid()}
}

// drop reports whether the identity differs from the server's.
func (id identity) drop() bool { return id.uid != os.Geteuid() }

// dropTo is the identity to change to; 0 means none, as guard has it.
func (id identity) dropTo() (uid, gid int) {
	if !id.drop() {
		return 0, 0
	}
	return id.uid, id.gid
}

// reaches reports why the identity cannot get to a folder through the ones above
// it. A root's private temporary folder is the usual one in the way.
func (id identity) reaches(folder string) error {
	if !id.drop() {
		return nil
	}
	for dir := filepath.Dir(folder); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o001 == 0 {
			return fmt.Errorf("snippets run as user %d, who may not pass through %s: name a work folder that all may reach with --work or TMPDIR", id.uid, dir)
		}
		if dir == "/" {
			return nil
		}
	}
}

// mayActForOthers reports whether this root has what it takes to run children as
// another user, to end them, and to read and remove what they leave
// (capabilities(7)). A container may have taken it away.
func mayActForOthers() bool {
	return holds(1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_FOWNER |
		1<<unix.CAP_KILL | 1<<unix.CAP_SETGID | 1<<unix.CAP_SETUID)
}

// holds reports whether this process has all of some capabilities.
func holds(needed uint32) bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	err := unix.Capget(&header, &data[0])
	return err == nil && data[0].Effective&needed == needed
}

// looking calls f as one who may look into the processes of the identity. A root
// without CAP_SYS_PTRACE, as in a container, may do that under their names only:
// what counts is the user for files, which each thread has by itself (ptrace(2),
// setfsuid(2)).
func (id identity) looking(f func()) {
	if !id.masked {
		f()
		return
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_ = unix.Setfsgid(id.gid) // neither can fail in a way that it tells; the look itself does
	_ = unix.Setfsuid(id.uid)
	defer func() {
		_ = unix.Setfsuid(os.Geteuid())
		_ = unix.Setfsgid(os.Getegid())
	}()
	f()
}
