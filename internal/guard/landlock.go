//go:build linux

package guard

import (
	"golang.org/x/sys/unix"
)

// Rights as sums of LANDLOCK_ACCESS_FS_*, before they are cut to an ABI.
const (
	readFile  = unix.LANDLOCK_ACCESS_FS_READ_FILE
	readTree  = readFile | unix.LANDLOCK_ACCESS_FS_READ_DIR
	execFile  = readFile | unix.LANDLOCK_ACCESS_FS_EXECUTE
	writeFile = readFile | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	// A work folder holds folders and regular files: no device, socket, fifo,
	// link, and nothing to execute. REFER lets a file move between folders.
	writeTree = readTree | writeFile |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_DIR |
		unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR |
		unix.LANDLOCK_ACCESS_FS_REFER
)

// Sizes of struct landlock_ruleset_attr as it grew (linux/landlock.h).
const (
	attrFS     = 8
	attrNet    = 16
	attrScoped = 24
)

// LandlockPlan is what a ruleset for one ABI says: what it handles, that is
// forbids unless granted, and the rights that each kind of grant gives. The
// helper stage gets it as JSON for the template's own layer.
type LandlockPlan struct {
	// ABI is the version that the plan is for; 0 means no Landlock, and every
	// other field is then zero.
	ABI int `json:"abi"`
	// HandledFS, HandledNet and Scoped are the fields of struct
	// landlock_ruleset_attr; AttrSize is how many of its bytes to pass.
	HandledFS  uint64 `json:"handled_fs"`
	HandledNet uint64 `json:"handled_net"`
	Scoped     uint64 `json:"scoped"`
	AttrSize   int    `json:"attr_size"`
	// The access masks of a rule: the Tree ones for a directory with all
	// below it, the File ones for anything else.
	ReadFile  uint64 `json:"read_file"`
	ReadTree  uint64 `json:"read_tree"`
	ExecFile  uint64 `json:"exec_file"`
	ExecTree  uint64 `json:"exec_tree"`
	WriteFile uint64 `json:"write_file"`
	WriteTree uint64 `json:"write_tree"`
}

// PlanLandlock forbids all that the ABI can forbid: every file right, TCP from
// ABI 4, device ioctls from 5, signals and abstract sockets to the outside
// from 6, sockets found by path from 9, UDP from 10. A newer kernel gets the newest plan
// that is known here (kernel docs, userspace-api/landlock, "Compatibility").
func PlanLandlock(abi int) LandlockPlan {
	if abi < 1 {
		return LandlockPlan{}
	}
	handled := handledFS(abi)
	p := LandlockPlan{
		ABI: abi, HandledFS: handled, AttrSize: attrFS,
		ReadFile: readFile & handled, ReadTree: readTree & handled,
		ExecFile: execFile & handled, ExecTree: (execFile | readTree) & handled,
		WriteFile: writeFile & handled, WriteTree: writeTree & handled,
	}
	if abi >= 4 {
		p.AttrSize = attrNet
		p.HandledNet = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if abi >= 6 {
		p.AttrSize = attrScoped
		p.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	if abi >= 10 {
		p.HandledNet |= unix.LANDLOCK_ACCESS_NET_BIND_UDP | unix.LANDLOCK_ACCESS_NET_CONNECT_SEND_UDP
	}
	return p
}

// handledFS is every file right that an ABI knows. Before ABI 2 moving a file
// to another folder is always refused; before ABI 3 truncation is not
// mediated, which is why the filters refuse it (landlock(7), "VERSIONS").
func handledFS(abi int) uint64 {
	handled := uint64(unix.LANDLOCK_ACCESS_FS_MAKE_SYM)<<1 - 1
	for _, later := range []struct {
		abi   int
		right uint64
	}{
		{2, unix.LANDLOCK_ACCESS_FS_REFER},
		{3, unix.LANDLOCK_ACCESS_FS_TRUNCATE},
		{5, unix.LANDLOCK_ACCESS_FS_IOCTL_DEV},
		{9, unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX},
	} {
		if abi >= later.abi {
			handled |= later.right
		}
	}
	return handled
}
