package guard

import (
	"fmt"
	"os"
	"syscall"
)

// Restart replaces the process by itself, with env as its environment; it
// returns only when that failed. What a process was started with stays readable
// in /proc/PID/environ until its end, whatever it unsets (proc(5)), so a server
// that was started with secrets has to begin again without them.
func Restart(env []string) error {
	return fmt.Errorf("restart without the environment's secrets: %w", syscall.Exec("/proc/self/exe", os.Args, env))
}
