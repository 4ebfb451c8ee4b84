package sandbox

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// ownUID is the user and group that snippets run as when the server is root. It
// is nobody else's: 65534 is shared with every other program that drops rights.
// It lies in the range of ordinary users and below the ones that systemd hands
// out (61184 and up).
const ownUID = 59742

// identity is who snippets run as.
type identity struct{ uid, gid int }

// childIdentity is a user of its own for a root that may act for another user,
// and the server's own user otherwise. Tests that sweep by user need another one
// than ownUID, which sandboxes beside them have.
func childIdentity(other int) identity {
	if os.Geteuid() == 0 && mayActForOthers() {
		uid := cmp.Or(other, ownUID)
		return identity{uid, uid}
	}
	return identity{os.Geteuid(), os.Getegid()}
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
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return false
	}
	const needed = 1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_FOWNER |
		1<<unix.CAP_KILL | 1<<unix.CAP_SETGID | 1<<unix.CAP_SETUID
	return data[0].Effective&needed == needed
}
