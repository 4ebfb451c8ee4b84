//go:build linux

// Command cloche runs untrusted Python snippets: as a server, or one at a time.
package main

import (
	"os"
	"os/signal"
	"syscall"

	"cloche/internal/guard"
)

func main() {
	// In a helper process of the sandbox this call does not return.
	guard.Main()
	surviveSIGPIPE()
	os.Exit(execute(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// surviveSIGPIPE makes a write to a pipe that nobody reads an error like any
// other, so that a command gives up its work folder before it ends. Unlike a
// signal that is ignored, one that is caught is not so for the programs that this
// one starts (execve(2)).
func surviveSIGPIPE() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }
