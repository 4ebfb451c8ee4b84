package sandbox

import "os"

// ownUID is the user and group that snippets run as when the server is root. It
// is nobody else's: 65534 is shared with every other program that drops rights.
// It lies in the range of ordinary users and below the ones that systemd hands
// out (61184 and up).
const ownUID = 59742

// identity is who snippets run as.
type identity struct{ uid, gid int }

// childIdentity is ownUID for root and the server's own user otherwise.
func childIdentity() identity {
	if os.Geteuid() == 0 {
		return identity{ownUID, ownUID}
	}
	return identity{os.Geteuid(), os.Getegid()}
}

// drop reports whether the identity differs from the server's.
func (id identity) drop() bool { return id.uid != os.Geteuid() }
