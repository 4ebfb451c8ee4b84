//go:build linux

package guard

import (
	"slices"

	"golang.org/x/sys/unix"
)

// childPolicy narrows templatePolicy for a process that is about to run a
// snippet. What it does not name keeps the template's verdict.
func childPolicy(left files) policy {
	return policy{otherwise: allowed, entries: slices.Concat(noTemplate(), pathForms(left))}
}

// noTemplate undoes forTemplate. A process may still signal itself: abort(3)
// and signal.raise_signal are tgkill, os.kill(os.getpid()) is kill. Of itself
// it may ask what would tell of any other process that it exists. 0 means the
// caller (getpgid(2), getsid(2), sched_getaffinity(2)); the number of a thread
// beside the first is refused, since no filter can tell whose it is.
func noTemplate() []entry {
	return append(
		same(refused, "fork", "recvmsg", "wait4", "waitid", "prctl", "seccomp", "landlock_restrict_self",
			"unshare", "capset"),
		where("clone", threadForm()),
		where("kill", form(is(0, OwnPID))),
		where("tgkill", form(is(0, OwnPID))),
		where("getpgid", form(is(0, 0, OwnPID))),
		where("getsid", form(is(0, 0, OwnPID))),
		where("sched_getaffinity", form(is(0, 0, OwnPID))),
	)
}

// pathForms stand in for a file wall that is missing. A path's existence and
// size stay visible: stat is left, as it is under Landlock.
func pathForms(left files) []entry {
	switch left {
	case walled:
		return nil
	case readOnly:
		return append(pathChanges(), readForms("open", 1), readForms("openat", 2))
	default:
		return append(pathChanges(), same(refused, "open", "openat")...)
	}
}

func pathChanges() []entry {
	return same(refused, "mkdir", "mkdirat", "rmdir", "unlink", "unlinkat", "rename", "renameat", "renameat2")
}

// readForms open what exists for reading. O_TMPFILE needs a write mode
// (open(2)), so it is refused with them.
func readForms(name string, at int) entry {
	return where(name, form(bits(at, unix.O_ACCMODE|unix.O_CREAT|unix.O_TRUNC, unix.O_RDONLY)))
}
