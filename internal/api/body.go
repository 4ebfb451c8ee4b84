package api

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"cloche/internal/snippet"
)

// maxBody is the largest body of a request in bytes, about 8 MiB. JSON may write
// a byte of text as six (\u0000); for files there is room for twice their size,
// which base64 and ordinary text need, but not for six times.
const maxBody = 6*(snippet.MaxCode+snippet.MaxStdin) + 2*snippet.MaxFilesBytes + snippet.MaxFiles*(snippet.MaxPath+1)

// A body has bodyPace for every paceBytes of it, about 3 KiB/s: a caller that
// sends hardly anything must not hold its place for the whole BodyTimeout.
const (
	bodyPace  = 5 * time.Second
	paceBytes = 16 << 10
)

// firstBytes is how much of a body of unknown length there is room for at first.
const firstBytes = 4 << 10

// What is still read of a refused body, so that a caller that sends before it
// listens gets the answer and not a reset connection.
const (
	drainBytes = 64 << 20
	drainTime  = 2 * time.Second
)

// intake is a body on its way in. It has room for what has arrived, and not
// for what was announced.
type intake struct {
	server *server
	conn   *http.ResponseController
	from   io.Reader
	length int64 // as announced; -1: unknown
	end    time.Time
	share  *share

	body  []byte
	paced int // bytes that had arrived when the deadline last moved
}

// readBody reads the whole body within maxBody, the budget and the time that a
// caller has for it. Release the share when the request is done with.
func (s *server) readBody(w http.ResponseWriter, r *http.Request) (body []byte, held *share, err error) {
	conn := http.NewResponseController(w)
	in := &intake{
		server: s, conn: conn, from: http.MaxBytesReader(w, r.Body, maxBody),
		length: r.ContentLength, end: time.Now().Add(s.config.BodyTimeout),
		share: s.small.open(conn.SetReadDeadline),
	}
	if r.ContentLength > maxBody {
		return nil, in.share, &http.MaxBytesError{Limit: maxBody}
	}
	err = in.read()
	if in.share.settle() {
		err = errBudget
	}
	_ = conn.SetReadDeadline(time.Time{})
	if err == nil {
		return in.body, in.share, nil
	}
	in.share.release() // refusing may take a while
	if errors.Is(err, os.ErrDeadlineExceeded) {
		w.Header().Set("Connection", "close") // it had its time
	}
	return nil, in.share, bodyFault(err)
}

// bodyFault leaves what has a status of its own. Anything else is a body that
// broke off or is badly framed, which is its sender's fault.
func bodyFault(err error) error {
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large), errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, errBudget):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &syntaxError{"The body ended early."}
	}
	return &syntaxError{"The body could not be read: it is not framed as HTTP asks, or broke off."}
}

func (in *intake) read() error {
	in.move()
	for {
		if len(in.body) == cap(in.body) {
			if err := in.grow(); err != nil {
				return err
			}
		}
		n, err := in.from.Read(in.body[len(in.body):cap(in.body)])
		in.body = in.body[:len(in.body)+n]
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case len(in.body)-in.paced >= paceBytes:
			in.move()
		}
	}
}

// move notes progress, and gives the caller time for more.
func (in *intake) move() {
	in.paced = len(in.body)
	until := time.Now().Add(bodyPace)
	if until.After(in.end) {
		until = in.end
	}
	in.share.await(until)
}

// grow makes room for three times as many bytes again as there are, or for the
// rest, after it has taken it from the budget. In smaller steps more would be
// left as garbage than is held.
func (in *intake) grow() error {
	room := min(max(4*int64(len(in.body)), in.first()), maxBody+1)
	if in.length >= 0 {
		room = min(room, in.length+1) // one more, to see the end
	}
	if room > smallBody && len(in.body) <= smallBody {
		if err := in.enlarge(); err != nil {
			return err
		}
	}
	if !in.share.take(room - int64(cap(in.body))) {
		return errBudget
	}
	in.body = append(make([]byte, 0, room), in.body...)
	return nil
}

// first is the room to begin with: a small body finds all its room at once.
func (in *intake) first() int64 {
	if in.length >= 0 {
		return smallBody
	}
	return firstBytes
}

// enlarge moves the body from the room for small ones to that for large ones.
func (in *intake) enlarge() error {
	before := in.share
	in.share = in.server.large.open(in.conn.SetReadDeadline)
	lost := before.settle()
	before.release()
	if lost || !in.share.take(int64(cap(in.body))) {
		return errBudget
	}
	in.move()
	return nil
}

// drain reads what is left of a body, within bounds, and has the connection
// closed if there is more. A caller that waits for "100 Continue" has not sent
// anything, and is not asked to.
func drain(w http.ResponseWriter, r *http.Request) {
	if r.Body == nil || r.Body == http.NoBody {
		return
	}
	conn := http.NewResponseController(w)
	if r.Header.Get("Expect") != "" {
		w.Header().Set("Connection", "close")
	}
	if w.Header().Get("Connection") != "close" {
		_ = conn.SetReadDeadline(time.Now().Add(drainTime))
		if _, err := io.CopyN(io.Discard, r.Body, drainBytes); err == io.EOF {
			_ = conn.SetReadDeadline(time.Time{})
			return
		}
		w.Header().Set("Connection", "close")
	}
	// net/http looks for the end of the body when the answer is sent, and would
	// wait for it as long as the caller likes.
	_ = conn.SetReadDeadline(past)
}
