package sandbox

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// oldestPython is the first version whose interpreter has all that the guard
// uses (sys.stdlib_module_names, exception groups, os.pidfd_open).
const oldestPython = 11

// probeSource makes an interpreter describe itself as JSON.
//
//go:embed probe.py
var probeSource string

// interpreter is a Python that the sandbox can run.
type interpreter struct {
	Executable string   `json:"executable"`
	Version    string   `json:"version"`
	Minor      int      `json:"minor"`
	Major      int      `json:"major"`
	ReadTrees  []string `json:"read_trees"` // what its programs read: the library
	ReadFiles  []string `json:"read_files"`
	RunTrees   []string `json:"run_trees"` // what it needs to start: shared libraries
}

// errNoPython is what a person reads when no interpreter can be used.
var errNoPython = errors.New("no usable Python: install Python 3.11 or newer (for example `apt install python3`) or name one with --python")

// findPython returns the first interpreter that the identity can run and that
// is new enough: the wanted one, or else what the machine has.
func findPython(ctx context.Context, wanted string, id identity) (interpreter, error) {
	if wanted != "" {
		return probePython(ctx, wanted, id)
	}
	var faults []error
	for _, name := range candidates() {
		found, err := probePython(ctx, name, id)
		if err == nil {
			return found, nil
		}
		faults = append(faults, err)
	}
	return interpreter{}, errors.Join(append([]error{errNoPython}, faults...)...)
}

// candidates lists the interpreters that PATH finds and those in the usual
// places, once each.
func candidates() []string {
	var found []string
	for _, name := range []string{"python3", "python3.14", "python3.13", "python3.12", "python3.11"} {
		for _, path := range []string{name, "/usr/local/bin/" + name, "/usr/bin/" + name} {
			if path, err := exec.LookPath(path); err == nil && !slices.Contains(found, path) {
				found = append(found, path)
			}
		}
	}
	return found
}

// probePython runs name as the identity that snippets will have, because an
// interpreter under a private home is of no use to another user.
func probePython(ctx context.Context, name string, id identity) (interpreter, error) {
	var found interpreter
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	path, err := exec.LookPath(name)
	if err != nil {
		return found, fmt.Errorf("%s is not a program that can be run; name Python 3.%d or newer with --python, or leave it out", name, oldestPython)
	}
	cmd := exec.CommandContext(ctx, path, "-I", "-c", probeSource)
	cmd.Env, cmd.Dir = []string{"LANG=C.UTF-8"}, "/"
	if id.drop() {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(id.uid), Gid: uint32(id.gid)}}
	}
	text, err := cmd.Output()
	if err != nil {
		return found, id.cannotRun(path, err)
	}
	if err := json.Unmarshal(text, &found); err != nil {
		return found, fmt.Errorf("%s does not answer as Python does; name Python 3.%d or newer with --python", path, oldestPython)
	}
	if found.Major != 3 || found.Minor < oldestPython {
		return found, fmt.Errorf("%s is Python %s: 3.%d or newer is needed; name another with --python", path, found.Version, oldestPython)
	}
	return found, nil
}

// cannotRun says why an interpreter did not run, with the first line that it
// said itself. For a server that is root the usual cause is one in a private
// home, like those that pyenv installs.
func (id identity) cannotRun(path string, err error) error {
	if errors.Is(err, fs.ErrPermission) && id.drop() {
		return fmt.Errorf("user %d, which runs snippets, cannot reach %s; name a Python outside private folders with --python, such as /usr/bin/python3", id.uid, path)
	}
	if failed, ok := errors.AsType[*exec.ExitError](err); ok && len(failed.Stderr) > 0 {
		said, _, _ := strings.Cut(string(failed.Stderr), "\n")
		return fmt.Errorf("run %s as user %d: %w: %.200q", path, id.uid, err, said)
	}
	return fmt.Errorf("run %s as user %d: %w", path, id.uid, err)
}

// describe names the interpreter for the log.
func (p interpreter) describe() string {
	return strings.Join([]string{"Python", p.Version, "at", p.Executable}, " ")
}
