//go:build !linux

// Command cloche runs untrusted Python snippets. No layer of its sandbox exists
// on this system, so all that it does here is say so.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "cloche: snippets can only be confined on Linux; run cloche on Linux, in a Linux container or in a virtual machine")
	os.Exit(1)
}
