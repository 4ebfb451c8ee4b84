package guard

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// killerName is argv[0] of a process that Main must turn into a killer.
const killerName = "cloche-killer"

// KillAllOf ends every process of a user that is not the caller's own, with one
// call that the kernel carries out for all of them (kill(2), pid -1). Root's own
// call would end everything, so a helper becomes that user first.
func KillAllOf(uid, gid int) error {
	cmd := &exec.Cmd{
		Path: "/proc/self/exe", Args: []string{killerName, strconv.Itoa(uid), strconv.Itoa(gid)},
		Env: []string{}, Dir: "/", SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("end the processes of user %d: %w: %s", uid, err, text)
	}
	return nil
}

// killAll runs in the helper.
func killAll(args []string) error {
	id, err := identityOf(args)
	if err != nil {
		return err
	}
	if id.UID == 0 || id.UID == os.Getuid() {
		return fmt.Errorf("refusing to end the processes of user %d", id.UID)
	}
	if err := id.dropIdentity(); err != nil {
		return err
	}
	err = unix.Kill(-1, unix.SIGKILL) // spares the caller
	if err == unix.ESRCH {
		return nil // there was none
	}
	return err
}

// identityOf reads a user and a group from a helper's arguments.
func identityOf(args []string) (stage, error) {
	uid, err := strconv.Atoi(args[0])
	if err != nil {
		return stage{}, err
	}
	gid, err := strconv.Atoi(args[1])
	return stage{UID: uid, GID: gid}, err
}
