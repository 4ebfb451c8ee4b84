package api

import (
	"errors"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"cloche/internal/snippet"
)

// maxBody is the largest body of a request in bytes, about 8 MiB. JSON may write
// a byte of text as six (\u0000); for files there is room for twice their size,
// which base64 and ordinary text need, but not for six times.
const maxBody = 6*(snippet.MaxCode+snippet.MaxStdin) + 2*snippet.MaxFilesBytes + snippet.MaxFiles*(snippet.MaxPath+1)

// bodyBudget bounds the bytes of all bodies that are held at the same time:
// the waiting room is large, and each that waits in it holds its own.
const bodyBudget = 16 * maxBody

// What is still read of a refused body, so that a caller that sends before it
// listens gets the answer and not a reset connection.
const (
	drainBytes = 64 << 20
	drainTime  = 2 * time.Second
)

// errBudget means that the bodies in flight take all the room there is.
var errBudget = errors.New("the bodies in flight exceed their budget")

type budget struct{ left atomic.Int64 }

func newBudget(size int64) *budget {
	b := &budget{}
	b.left.Store(size)
	return b
}

// share is the part of a budget that one body takes.
type share struct {
	of   *budget
	from io.Reader
	used int64
}

func (s *share) Read(p []byte) (int, error) {
	n, err := s.from.Read(p)
	s.used += int64(n)
	if s.of.left.Add(-int64(n)) < 0 {
		return n, errBudget
	}
	return n, err
}

func (s *share) release() { s.of.left.Add(s.used) }

// readBody reads the whole body within maxBody, the budget and the time that a
// caller has for it. Call release when the request is done with.
func (s *server) readBody(w http.ResponseWriter, r *http.Request) (body []byte, release func(), err error) {
	part := &share{of: s.budget, from: http.MaxBytesReader(w, r.Body, maxBody)}
	if r.ContentLength > maxBody {
		return nil, part.release, &http.MaxBytesError{Limit: maxBody}
	}
	// Where the connection has no deadlines, as on Lambda, the body is here already.
	conn := http.NewResponseController(w)
	_ = conn.SetReadDeadline(time.Now().Add(s.config.BodyTimeout))
	body, err = io.ReadAll(part)
	_ = conn.SetReadDeadline(time.Time{})
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = &syntaxError{"The body ended early."}
	case errors.Is(err, os.ErrDeadlineExceeded):
		w.Header().Set("Connection", "close") // it had its time
	}
	return body, part.release, err
}

// drain reads what is left of a body, within bounds, and has the connection
// closed if there is more. A caller that waits for "100 Continue" has not sent
// anything, and is not asked to.
func drain(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Expect") != "" {
		w.Header().Set("Connection", "close")
	}
	if r.Body == nil || r.Body == http.NoBody || w.Header().Get("Connection") == "close" {
		return
	}
	conn := http.NewResponseController(w)
	_ = conn.SetReadDeadline(time.Now().Add(drainTime))
	if _, err := io.CopyN(io.Discard, r.Body, drainBytes); err != io.EOF {
		w.Header().Set("Connection", "close")
	}
	_ = conn.SetReadDeadline(time.Time{})
}
