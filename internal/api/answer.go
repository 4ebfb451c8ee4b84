package api

import (
	"bytes"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cloche/internal/snippet"
)

// A caller has answerPace to take each pieceBytes of an answer and the rest of it,
// and answerTime for all of it.
const (
	pieceBytes = 64 << 10
	answerPace = 10 * time.Second
	answerTime = time.Minute
)

// encode writes lists as [] and never as null, and replaces what is not valid
// UTF-8, so that every answer is JSON that any caller can read.
func encode(v any) ([]byte, error) {
	return json.Marshal(v, jsontext.AllowInvalidUTF8(true))
}

// write sends v as a whole or, if it has no JSON form, a problem in its place.
func (s *server) write(w http.ResponseWriter, status int, mediaType string, v any) {
	held := s.answers.open(http.NewResponseController(w).SetWriteDeadline)
	defer held.release()
	body, err := s.encode(v, held)
	if err != nil {
		s.log.Error("encode answer", slog.String("cause", err.Error()))
		p := problemFor(err)
		status, mediaType = p.Status, "application/problem+json"
		body, _ = encode(p) // plain text and numbers: cannot fail
	}
	send(w, status, mediaType, body, held)
}

// encode has the share hold what a large answer takes, from before it is encoded.
// Large ones wait for a processor, and small ones do not wait for them.
func (s *server) encode(v any, held *share) ([]byte, error) {
	size := encodedSize(v)
	if size <= smallAnswer {
		body, err := encode(v)
		if cap(body) > smallAnswer {
			held.charge(int64(cap(body)))
		}
		return body, err
	}
	held.charge(size)
	s.working <- struct{}{}
	defer func() { <-s.working }()
	body := bytes.NewBuffer(make([]byte, 0, size))
	err := json.MarshalWrite(body, v, jsontext.AllowInvalidUTF8(true))
	held.charge(int64(body.Cap()) - size)
	return body.Bytes(), err
}

// encodedSize guesses how many bytes a verdict takes as JSON, mostly a little more
// than it does. It is 0 for all other answers, which are bounded by hundreds of
// KiB.
func encodedSize(v any) int64 {
	r, ok := v.(snippet.Result)
	if !ok {
		return 0
	}
	size := textSize(r.Stdout) + textSize(r.Stderr) + smallAnswer/4
	for i := range r.Files {
		size += 512 + textSize(r.Files[i].Path)
		if content := r.Files[i].Content; content != nil {
			size += textSize(*content)
		}
	}
	return size
}

// textSize is the length of a text whose usual escapes take two bytes.
func textSize(text string) int64 {
	size := len(text)
	for _, escaped := range []string{`"`, `\`, "\n", "\r", "\t"} {
		size += strings.Count(text, escaped)
	}
	return int64(size)
}

// send does not report a failed write: it means that the caller has left, or
// has given way because it did not read. The share is nil for what is not held
// for this caller alone.
func send(w http.ResponseWriter, status int, mediaType string, body []byte, held *share) {
	w.Header().Set("Content-Type", mediaType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	conn := http.NewResponseController(w)
	end := time.Now().Add(answerTime)
	for first := true; first || len(body) > 0; first = false {
		until := time.Now().Add(answerPace)
		if until.After(end) {
			until = end
		}
		if held != nil {
			held.await(until)
		} else {
			// Where the connection has no deadlines, as on Lambda, nobody is waited for.
			_ = conn.SetWriteDeadline(until)
		}
		if first {
			w.WriteHeader(status)
		}
		piece := body[:min(len(body), pieceBytes)]
		if _, err := w.Write(piece); err != nil {
			return
		}
		body = body[len(piece):]
	}
}

// fixed serves an answer that never changes while the server runs.
func fixed(v any) (http.Handler, error) {
	body, err := encode(v)
	if err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		send(w, http.StatusOK, "application/json", body, nil)
	}), nil
}
