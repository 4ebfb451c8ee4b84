package api

import (
	"net/http"

	"cloche/internal/service"
)

// demo answers POST /demo. There is nothing to say to it, so a body is not read.
func (s *server) demo(w http.ResponseWriter, r *http.Request) {
	report, err := s.config.Service.Demo(r.Context(), service.Caller{RequestID: requestID(r)})
	if err != nil {
		s.refuse(w, r, problemFor(err))
		return
	}
	s.write(w, http.StatusOK, jsonType, report)
}
