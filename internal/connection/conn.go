package connection

import (
	"bytes"
	"container/list"
	"errors"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"cloche/internal/api"
)

// refusalTime is how long a refusal may take to be written. It fits into what
// the kernel takes at once.
const refusalTime = time.Second

// conn is one accepted connection. What net/http writes to it without having
// asked a handler is its own answer in plain text, in one piece and on its way
// to the end of the connection: in its place goes a problem.
type conn struct {
	net.Conn
	pool *pool

	begun     atomic.Bool // something of the next request has been read
	answering atomic.Bool // a handler was asked, and the connection does not wait yet

	// Guarded by the pool's mutex.
	place *list.Element // among those that wait; nil: it is busy, or gone
	since time.Time     // when it began to wait
	gone  bool          // it has no place any more
}

// Read answers a request whose header does not come in time with a problem;
// net/http closes the connection without a word.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.answering.Load() {
		return n, err
	}
	if n > 0 && !c.begun.Swap(true) {
		c.pool.progress(c)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) && c.begun.Load() {
		_ = c.SetWriteDeadline(time.Now().Add(refusalTime))
		_, _ = c.Conn.Write(problem(http.StatusRequestTimeout, "The header of the request did not arrive in time; send it at once."))
	}
	return n, err
}

// Write puts a problem in the place of net/http's own answers.
func (c *conn) Write(p []byte) (int, error) {
	if !c.answering.Load() {
		if status, reason, ok := statusLine(p); ok {
			if _, err := c.Conn.Write(problem(status, detail(status, reason))); err != nil {
				return 0, err
			}
			return len(p), nil
		}
	}
	n, err := c.Conn.Write(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		c.forget()
	}
	return n, err
}

// forget has the kernel drop what was not read in time when the connection is
// closed. Else it would keep it, and offer it, for minutes.
func (c *conn) forget() {
	if tcp, ok := c.Conn.(interface{ SetLinger(int) error }); ok {
		_ = tcp.SetLinger(0)
	}
}

// CloseWrite is what net/http asks of a connection before it closes one whose
// caller is still sending.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// Close frees the connection's place too.
func (c *conn) Close() error {
	err := c.Conn.Close() // before there is room for another: descriptors are what is counted
	c.pool.leave(c)
	return err
}

// unread reports whether there is something that the caller has sent and net/http
// has not read yet. It does not block.
func (c *conn) unread() (there bool) {
	socket, ok := c.Conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return false
	}
	_ = raw.Control(func(fd uintptr) {
		var first [1]byte
		n, _, err := syscall.Recvfrom(int(fd), first[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		there = err == nil && n > 0
	})
	return there
}

// statusLine reads the begin of an answer: "HTTP/1.1 400 Bad Request: reason".
func statusLine(answer []byte) (status int, reason string, ok bool) {
	line, _, _ := bytes.Cut(answer, []byte("\r\n"))
	rest, ok := strings.CutPrefix(string(line), "HTTP/1.1 ")
	number, text, _ := strings.Cut(rest, " ")
	status, err := strconv.Atoi(number)
	if !ok || err != nil || status < http.StatusBadRequest || http.StatusText(status) == "" {
		return 0, "", false
	}
	_, reason, _ = strings.Cut(text, ": ")
	return status, reason, true
}

// detail says what to change. The reasons are net/http's fixed words, without
// anything of the request.
func detail(status int, reason string) string {
	switch status {
	case http.StatusBadRequest:
		if reason == "" {
			return "The request is not valid HTTP."
		}
		return "The request is not valid HTTP: " + reason + "."
	case http.StatusRequestHeaderFieldsTooLarge:
		return "The header of the request is too large; send fewer or shorter fields."
	case http.StatusNotImplemented:
		return "This transfer encoding is not known; send the body with a Content-Length, or chunked."
	case http.StatusHTTPVersionNotSupported:
		return "This version of HTTP is not spoken here; use HTTP/1.1."
	case http.StatusExpectationFailed:
		return "Only 100-continue can be expected."
	}
	return "The request cannot be served."
}

// problem is a whole answer, written without net/http.
func problem(status int, detail string) []byte {
	header, body := api.Refusal(status, detail, 0)
	header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	var b bytes.Buffer
	b.WriteString("HTTP/1.1 " + strconv.Itoa(status) + " " + http.StatusText(status) + "\r\n")
	_ = header.Write(&b) // into memory: cannot fail
	b.WriteString("\r\n")
	b.Write(body)
	return b.Bytes()
}
