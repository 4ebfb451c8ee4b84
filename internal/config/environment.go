package config

import (
	"os"
	"slices"
	"strings"
)

// kept are the variables, by prefix, that a server has a use for: its own, what
// the operating system's and Go's libraries read, and nothing that could be a
// secret.
var kept = []string{"CLOCHE_", "PATH=", "HOME=", "TMPDIR=", "LANG=", "LC_", "TZ=", "TERM=", "NO_COLOR=", "GOMAXPROCS=", "GOMEMLIMIT=", "GOGC=", "GODEBUG=", "GOTRACEBACK=", "GORACE=", "GOCOVERDIR="}

// Environment returns the variables that a server has a use for, and whether
// there are others. A process should not keep those: whatever it unsets, they
// stay readable for others of its user.
func Environment() (useful []string, others bool) {
	for _, v := range os.Environ() {
		if slices.ContainsFunc(kept, func(prefix string) bool { return strings.HasPrefix(v, prefix) }) {
			useful = append(useful, v)
		} else {
			others = true
		}
	}
	return useful, others
}
