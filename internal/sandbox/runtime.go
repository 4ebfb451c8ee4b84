package sandbox

import (
	"fmt"

	"cloche/internal/snippet"
)

// Runtime describes the interpreter and the isolation layers of this machine.
func (s *Sandbox) Runtime() snippet.Runtime {
	landlock := snippet.Layer{Name: "landlock", Active: s.abi > 0, Detail: fmt.Sprintf("ABI %d", s.abi)}
	if s.abi == 0 {
		landlock.Detail = "the kernel does not offer it"
	}
	identity := snippet.Layer{Name: "identity", Active: s.identity.drop(), Detail: fmt.Sprintf("uid %d", s.identity.uid)}
	return snippet.Runtime{
		Python: s.python.Version, Executable: s.python.Executable,
		Layers: []snippet.Layer{landlock, {Name: "seccomp", Active: !s.weaken.seccomp, Detail: "allow-list"}, identity},
	}
}
