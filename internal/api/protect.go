package api

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	"cloche/internal/snippet"
)

// requestIDHeader carries the caller's own name of a request. It is data for
// the log and the event; a run's id is always ours.
const (
	requestIDHeader  = "X-Request-Id"
	requestIDPattern = `^[A-Za-z0-9._:-]{0,128}$`
)

var requestIDForm = regexp.MustCompile(requestIDPattern)

// protect is what every request passes before it finds its route.
func (s *server) protect(next http.Handler) http.Handler {
	origin := http.NewCrossOriginProtection()
	origin.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.refuse(w, r, problemOf(http.StatusForbidden, "Requests from pages of another origin are refused."))
	}))
	return s.recovering(s.naming(s.hosting(origin.Handler(next))))
}

// recovering turns a panic into a problem, logged once. The safe headers are
// set here, so that no answer is without them.
func (s *server) recovering(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := &answer{ResponseWriter: w}
		defer func() {
			fault := recover()
			if fault == nil {
				return
			}
			if fault == http.ErrAbortHandler {
				panic(fault)
			}
			s.log.LogAttrs(r.Context(), slog.LevelError, "panic",
				slog.String("cause", fmt.Sprint(fault)), slog.String("stack", string(debug.Stack())))
			if answer.started {
				panic(http.ErrAbortHandler) // what was sent cannot be completed: cut it off visibly
			}
			s.refuse(answer, r, problemOf(http.StatusInternalServerError, "Something is wrong on our side; the log says what."))
		}()
		setSafeHeaders(w.Header())
		next.ServeHTTP(answer, r)
	})
}

// setSafeHeaders is for answers that no page should embed, run or keep. A
// handler that serves a page sets its own.
func setSafeHeaders(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
}

// naming echoes the caller's request id, or refuses one that could not be
// searched for in a log.
func (s *server) naming(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ids := r.Header.Values(requestIDHeader)
		if len(ids) > 1 || (requestID(r) != "" && !requestIDForm.MatchString(ids[0])) {
			r.Header.Del(requestIDHeader)
			s.refuse(w, r, problemFor(snippet.FieldErrors{{
				Field:   requestIDHeader,
				Problem: "must be one header of at most 128 characters out of A-Z a-z 0-9 . _ : -",
			}}))
			return
		}
		if id := requestID(r); id != "" {
			w.Header().Set(requestIDHeader, id)
		}
		next.ServeHTTP(w, r)
	})
}

func requestID(r *http.Request) string { return r.Header.Get(requestIDHeader) }

// hosting refuses names that are not ours, which is how a page in a browser
// reaches a local server through DNS rebinding.
func (s *server) hosting(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !hostAllowed(r.Host, s.config.AllowedHosts) {
			s.refuse(w, r, problemOf(http.StatusForbidden, "This server does not answer to the name in the Host header."))
			return
		}
		next.ServeHTTP(w, r)
	})
}

func hostAllowed(host string, allowed []string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"), ".")
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsLoopback() {
		return true
	}
	return strings.EqualFold(host, "localhost") || slices.ContainsFunc(allowed, func(name string) bool {
		return name == "*" || strings.EqualFold(host, name)
	})
}

// answer remembers whether an answer has begun.
type answer struct {
	http.ResponseWriter
	started bool
}

func (a *answer) WriteHeader(status int) {
	a.started = true
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Write(p []byte) (int, error) {
	a.started = true
	return a.ResponseWriter.Write(p)
}

// Unwrap and Flush keep deadlines and streaming possible.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// Flush sends what is buffered; without effect where that cannot be done.
func (a *answer) Flush() {
	a.started = true
	_ = http.NewResponseController(a.ResponseWriter).Flush()
}
