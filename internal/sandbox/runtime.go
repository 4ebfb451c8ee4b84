package sandbox

import "cloche/internal/snippet"

// Runtime describes the interpreter and the isolation layers of this machine, and
// what Packages has found. It answers at once.
func (s *Sandbox) Runtime() snippet.Runtime {
	r := snippet.Runtime{Python: s.python.Version, Executable: s.python.Executable, Layers: s.layers.report()}
	if known := s.listing.known.Load(); known != nil {
		r.Packages = *known
	}
	return r
}
