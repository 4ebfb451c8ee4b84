package api

import (
	"net/http"

	"cloche/internal/snippet"
)

// Packages is the answer of GET /packages.
type Packages struct {
	Python   string      `json:"python" doc:"Version of the Python that runs snippets; empty as long as it is not known."`
	Packages []Installed `json:"packages" maxItems:"500" doc:"By the name of the module."`
	Omitted  int         `json:"omitted" minimum:"0" doc:"How many further ones there are."`
}

// Installed is one module that snippets find besides the standard library.
type Installed struct {
	snippet.Package
	Allowed bool `json:"allowed" doc:"Whether the import policy lets snippets import it."`
}

// packages waits where nobody has looked yet.
func (s *server) packages(w http.ResponseWriter, r *http.Request) {
	runtime := s.config.Runtime()
	if s.config.Packages != nil {
		found, err := s.config.Packages(r.Context())
		if err != nil {
			s.refuse(w, r, problemFor(err))
			return
		}
		runtime.Packages = found
	}
	answer := Packages{Python: runtime.Python, Omitted: runtime.Packages.Omitted}
	for _, p := range runtime.Packages.List {
		answer.Packages = append(answer.Packages, Installed{Package: p, Allowed: !s.config.Policy.Denies(p.Module)})
	}
	s.write(w, http.StatusOK, jsonType, answer)
}
