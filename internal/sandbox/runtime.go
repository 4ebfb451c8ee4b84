package sandbox

import "cloche/internal/snippet"

// Runtime describes the interpreter and the isolation layers of this machine.
func (s *Sandbox) Runtime() snippet.Runtime {
	return snippet.Runtime{Python: s.python.Version, Executable: s.python.Executable, Layers: s.layers.report()}
}
