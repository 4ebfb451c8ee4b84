//go:build linux

// Command cloche runs untrusted Python snippets: as a server, or one at a time.
package main

import (
	"os"

	"cloche/internal/guard"
)

func main() {
	// In a helper process of the sandbox this call does not return.
	guard.Main()
	os.Exit(execute(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
