package api

import (
	"net/http"

	"cloche/internal/service"
	"cloche/internal/snippet"
)

// Health is the answer of GET /health.
type Health struct {
	Live      bool              `json:"live" doc:"Always true: the server answers."`
	Version   string            `json:"version" doc:"Version of Cloche."`
	Python    string            `json:"python" doc:"Version of the Python that runs snippets; empty if there is none."`
	Layers    []snippet.Layer   `json:"layers" doc:"Isolation layers, outermost first."`
	Recording service.Recording `json:"recording" enum:"ok,off,failing,unknown" doc:"Whether runs are recorded. Failing: the last event could not be, and is in the log. Unknown: other processes run snippets, and their logs tell."`
}

// health never waits for a slot, so it answers while all runs are busy.
func (s *server) health(w http.ResponseWriter, _ *http.Request) {
	runtime, recording := s.config.Runtime(), s.config.Service.Recording()
	if s.config.RunsElsewhere {
		recording = service.RecordUnknown
	}
	s.write(w, http.StatusOK, "application/json", Health{
		Live:      true,
		Version:   s.config.Version,
		Python:    runtime.Python,
		Layers:    runtime.Layers,
		Recording: recording,
	})
}
