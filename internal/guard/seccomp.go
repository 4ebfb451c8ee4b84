//go:build linux

package guard

import (
	"errors"
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// SpecAllow is SECCOMP_FILTER_FLAG_SPEC_ALLOW: install the filter without
// switching off the processor's speculative store bypass. Kernels before 5.16
// switch it off for every confined process unless told not to, which slows
// Python down markedly (seccomp(2), "SECCOMP_FILTER_FLAG_SPEC_ALLOW"; Linux
// 5.16, commit 2f46993d83ff).
const SpecAllow = unix.SECCOMP_FILTER_FLAG_SPEC_ALLOW

// ErrArch means that no filter exists for the processor that this runs on.
var ErrArch = errors.New("no system call filter for this architecture")

// OwnPID is the 32-bit word that ChildFilter's program compares pids with. A
// child writes its own pid over each of them (little-endian) before it installs
// the filter, so that it can signal itself, as abort(3) does. Left alone it refuses every signal: it is above
// PID_MAX_LIMIT (4194304, proc(5)), and not 0 or -1, which mean whole groups.
const OwnPID = 0x7fffffff

// files says what a filter leaves of the calls that take a path. The zero
// value leaves none.
type files int

const (
	noFiles files = iota
	readOnly
	walled
)

// TemplateFilter is the allow-list that the template interpreter installs
// once its libraries are loaded, and that every child inherits: default EPERM.
// It still has what the template needs to make children. The bytes are an
// array of struct sock_filter, 8 bytes each (seccomp(2)).
func TemplateFilter() ([]byte, error) { return assemble(runtime.GOARCH, templatePolicy()) }

// ChildFilter takes away, on top of TemplateFilter, what only the template
// needed: new processes, descriptor passing, waiting, signals to others,
// limits, and the confinement calls themselves. Of several filters the
// strictest verdict counts (seccomp(2)), so it is small and allows the rest.
// Paths are left to the file wall; without one use UnwalledChildFilter.
func ChildFilter() ([]byte, error) { return assemble(runtime.GOARCH, childPolicy(walled)) }

// UnwalledChildFilter is ChildFilter for a host without a file wall. It refuses
// every open and every change of a path; with readable it lets the child open
// whatever its uid may read on the whole host, which only an operator can want.
func UnwalledChildFilter(readable bool) ([]byte, error) {
	left := noFiles
	if readable {
		left = readOnly
	}
	return assemble(runtime.GOARCH, childPolicy(left))
}

func assemble(goarch string, p policy) ([]byte, error) {
	a, known := archs[goarch]
	if !known {
		return nil, fmt.Errorf("%w: %s", ErrArch, goarch)
	}
	program, err := plan(a, p)
	if err != nil {
		return nil, err
	}
	return encode(program), nil
}
