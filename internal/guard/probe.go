package guard

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// probeName is argv[0] of a process that Main must turn into a probe.
const probeName = "cloche-probe"

// Kernel is what this machine lets a process like a snippet's do to itself. Each
// answer comes from doing it, in a process of its own: an option that is
// compiled in may still be refused by a container, and the other way round.
type Kernel struct {
	Landlock int               `json:"landlock"` // ABI version, 0 for none
	Refused  map[string]string `json:"refused"`  // feature to the reason why it cannot be used
}

// The names of the features in Kernel.Refused.
const (
	FeatureSeccomp     = "seccomp"
	FeatureLandlock    = "landlock"
	FeatureDeathSignal = "death_signal"
	FeaturePidfd       = "pidfd"
	FeatureMemfd       = "memfd"
	FeatureMount       = "mount"
	FeatureUserNS      = "user_namespace" // with the user's tasks counted in each alone
)

// Has reports whether a feature can be used.
func (k Kernel) Has(feature string) bool { return k.Refused[feature] == "" }

// refuse notes why a feature cannot be used; nil is no reason.
func (k Kernel) refuse(feature string, err error) {
	if err != nil {
		k.Refused[feature] = err.Error()
	}
}

// ProbeKernel asks the kernel, as the identity that snippets will have.
func ProbeKernel(uid, gid int) (Kernel, error) {
	cmd := &exec.Cmd{
		Path: "/proc/self/exe", Args: []string{probeName, strconv.Itoa(uid), strconv.Itoa(gid)},
		Env: []string{}, Dir: "/", SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	text, err := cmd.Output()
	if err != nil {
		return Kernel{}, fmt.Errorf("probe the kernel: %w", err)
	}
	var k Kernel
	if err := json.Unmarshal(text, &k); err != nil {
		return Kernel{}, fmt.Errorf("probe the kernel: %w", err)
	}
	k.refuse(FeatureMount, probeMount())
	return k, nil
}

// probeSelf answers on standard output. The order matters: what takes rights away
// comes last.
func probeSelf(args []string) error {
	id, err := identityOf(args)
	if err != nil {
		return err
	}
	if err := id.dropIdentity(); err != nil {
		return err
	}
	k := Kernel{Refused: map[string]string{}}
	k.refuse(FeaturePidfd, probePidfd())
	k.refuse(FeatureMemfd, probeMemfd())
	k.refuse(FeatureUserNS, probeUserNamespace())
	k.refuse(FeatureDeathSignal, unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0))
	noNew := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	k.Landlock = LandlockABI()
	k.refuse(FeatureLandlock, probeLandlock(k.Landlock))
	if !k.Has(FeatureLandlock) {
		k.Landlock = 0
	}
	k.refuse(FeatureSeccomp, probeSeccomp(noNew))
	return json.NewEncoder(os.Stdout).Encode(k)
}

func probePidfd() error {
	fd, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		return err
	}
	return unix.PidfdSendSignal(fd, 0, nil, 0)
}

func probeMemfd() error {
	fd, err := unix.MemfdCreate("probe", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return err
	}
	_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_WRITE)
	return err
}

// probeLandlock closes everything but the program's own output, which is open
// already.
func probeLandlock(abi int) error {
	if abi == 0 {
		return ErrNoLandlock
	}
	return PlanLandlock(abi).Restrict(LandlockRules{})
}

// probeSeccomp installs the very filters that a child will have.
func probeSeccomp(noNewPrivileges error) error {
	if noNewPrivileges != nil {
		return fmt.Errorf("no new privileges: %w", noNewPrivileges)
	}
	for _, filter := range []func() ([]byte, error){TemplateFilter, ChildFilter} {
		program, err := filter()
		if err != nil {
			return err
		}
		if err := installFilter(program); err != nil {
			return err
		}
	}
	return nil
}

// installFilter puts a program on the current thread (seccomp(2)).
func installFilter(program []byte) error {
	prog := unix.SockFprog{
		Len:    uint16(len(program) / unix.SizeofSockFilter),
		Filter: (*unix.SockFilter)(unsafe.Pointer(&program[0])),
	}
	const setModeFilter = 1 // SECCOMP_SET_MODE_FILTER, linux/seccomp.h
	_, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, setModeFilter, SpecAllow, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(program)
	if errno != 0 {
		return errno
	}
	return nil
}
