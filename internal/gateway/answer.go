package gateway

import (
	"bytes"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strings"
)

// sealed stands between a handler and the adapter's writer, which believes the
// last status that it is told, takes silence for an error, passes on any header
// and does not survive a panic.
type sealed struct {
	handler http.Handler
	log     *slog.Logger
}

func (s sealed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.RemoteAddr = withPort(r.RemoteAddr)
	s.ask(r).writeTo(w, r.Method)
}

// ask returns the handler's whole answer, or a problem in place of half of one.
func (s sealed) ask(r *http.Request) (a *answer) {
	a = &answer{handlers: http.Header{}}
	defer func() {
		fault := recover()
		if fault == nil {
			return
		}
		if fault != http.ErrAbortHandler { // whoever aborts has said why
			s.log.LogAttrs(r.Context(), slog.LevelError, "panic",
				slog.String("cause", fmt.Sprint(fault)), slog.String("stack", string(debug.Stack())))
		}
		a = problemAnswer(refuse(http.StatusInternalServerError, ourFault))
	}()
	s.handler.ServeHTTP(a, r)
	a.WriteHeader(http.StatusOK)
	return a
}

// withPort makes an address of the form that net/http has. The port is not
// known, since API Gateway does not tell it.
func withPort(ip string) string {
	if _, err := netip.ParseAddr(ip); err != nil {
		return ""
	}
	return net.JoinHostPort(ip, "0")
}

// answer keeps what a handler writes, with the manners of net/http: the first
// status counts, and headers count as they were then.
type answer struct {
	handlers http.Header // the handler's own, which it may go on changing
	header   http.Header // as it was when the status was written
	status   int         // 0: not written yet
	body     bytes.Buffer
}

func problemAnswer(p *problem) *answer {
	a := &answer{status: p.Status, header: p.header()}
	a.body.Write(p.body())
	return a
}

func (a *answer) Header() http.Header { return a.handlers }

func (a *answer) WriteHeader(status int) {
	if status < 100 || status > 999 {
		panic(fmt.Sprintf("status %d", status))
	}
	if a.status == 0 && status >= 200 { // what is below only announces an answer
		a.status, a.header = status, a.handlers.Clone()
	}
}

func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	if a.status == http.StatusNoContent || a.status == http.StatusNotModified {
		return 0, http.ErrBodyNotAllowed
	}
	return a.body.Write(p)
}

// writeTo gives the answer to the adapter in one go.
func (a *answer) writeTo(w http.ResponseWriter, method string) {
	maps.Copy(w.Header(), clean(a.header))
	w.WriteHeader(a.status)
	if a.body.Len() > 0 && method != http.MethodHead {
		_, _ = w.Write(a.body.Bytes()) // a buffer: cannot fail
	}
}

var newlines = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ")

// clean leaves out what would end a header early or begin another one, and what
// is for API Gateway to say.
func clean(header http.Header) http.Header {
	out := http.Header{}
	for name, values := range header {
		for _, value := range values {
			value = newlines.Replace(value)
			if !unwanted[name] && validHeader(name, []string{value}) {
				out.Add(name, value)
			}
		}
	}
	return out
}
