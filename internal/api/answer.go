package api

import (
	"log/slog"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// encode writes lists as [] and never as null, and replaces what is not valid
// UTF-8, so that every answer is JSON that any caller can read.
func encode(v any) ([]byte, error) {
	return json.Marshal(v, jsontext.AllowInvalidUTF8(true))
}

// write sends v as a whole or, if it has no JSON form, a problem in its place.
func (s *server) write(w http.ResponseWriter, status int, mediaType string, v any) {
	body, err := encode(v)
	if err != nil {
		s.log.Error("encode answer", slog.String("cause", err.Error()))
		p := problemFor(err)
		status, mediaType = p.Status, "application/problem+json"
		body, _ = encode(p) // plain text and numbers: cannot fail
	}
	send(w, status, mediaType, body)
}

// send does not report a failed write: it means that the caller has left.
func send(w http.ResponseWriter, status int, mediaType string, body []byte) {
	w.Header().Set("Content-Type", mediaType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// fixed serves an answer that never changes while the server runs.
func fixed(v any) (http.Handler, error) {
	body, err := encode(v)
	if err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		send(w, http.StatusOK, "application/json", body)
	}), nil
}
