package api

import (
	"mime"
	"net/http"
	"strings"

	"cloche/internal/service"
	"cloche/internal/snippet"
)

// execute answers POST /execute. No slot is taken before the whole body is
// here and found good.
func (s *server) execute(w http.ResponseWriter, r *http.Request) {
	if problem := mediaProblem(r.Header); problem != "" {
		s.refuse(w, r, problemOf(http.StatusUnsupportedMediaType, problem))
		return
	}
	body, held, err := s.readBody(w, r)
	defer held.release()
	if err != nil {
		s.refuse(w, r, problemFor(err))
		return
	}
	req, err := s.decode(body)
	if err != nil {
		s.refuse(w, r, problemFor(err))
		return
	}
	held.keep(heldSize(req)) // from here on it is held in this form
	result, err := s.config.Service.Execute(r.Context(), req, service.Caller{RequestID: requestID(r)})
	held.release()
	if err != nil {
		s.refuse(w, r, problemFor(err))
		return
	}
	s.write(w, http.StatusOK, "application/json", result)
}

func (s *server) decode(body []byte) (snippet.Request, error) {
	s.decoding <- struct{}{}
	defer func() { <-s.decoding }()
	return decode(body)
}

// heldSize is what a request takes in bytes until it is answered.
func heldSize(req snippet.Request) int64 {
	size := len(req.Code) + len(req.Stdin)
	for _, f := range req.Files {
		size += len(f.Path) + len(f.Content)
	}
	return int64(size)
}

// mediaProblem wants the type said: a page of another origin can send a body
// without one, or as a form or text, and no browser asks us first.
func mediaProblem(h http.Header) string {
	media, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	charset := params["charset"]
	switch {
	case err != nil || media != "application/json" || len(h.Values("Content-Type")) != 1:
		return "The body must be JSON, with the header Content-Type: application/json."
	case charset != "" && !strings.EqualFold(charset, "utf-8"):
		return "The body must be JSON in UTF-8."
	case h.Get("Content-Encoding") != "" && !strings.EqualFold(h.Get("Content-Encoding"), "identity"):
		return "The body must not be compressed."
	}
	return ""
}
