package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"time"

	"cloche/internal/service"
	"cloche/internal/snippet"
)

// Problem is a refusal as RFC 9457 has it. Nothing ran. Its texts never repeat
// what the request held, except the name of an unknown field.
type Problem struct {
	Type   string              `json:"type" doc:"Always about:blank: the status says which kind of problem it is."`
	Title  string              `json:"title" doc:"The status in words."`
	Status int                 `json:"status" doc:"The HTTP status."`
	Detail string              `json:"detail" doc:"What is wrong and what to change."`
	Errors snippet.FieldErrors `json:"errors" doc:"The fields that were refused; empty if the problem is not in a field."`

	retryAfter time.Duration
	cause      error // for the log, never for the caller
}

func problemOf(status int, detail string) *Problem {
	return &Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: detail}
}

// problemFor is the one table from errors to statuses.
func problemFor(err error) *Problem {
	var fields snippet.FieldErrors
	var syntax *syntaxError
	var busy *service.BusyError
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &fields):
		p := problemOf(http.StatusUnprocessableEntity, fields.Error())
		p.Errors = fields
		return p
	case errors.As(err, &syntax):
		return problemOf(http.StatusBadRequest, syntax.Error())
	case errors.As(err, &large):
		return problemOf(http.StatusRequestEntityTooLarge,
			"The body must be at most "+strconv.FormatInt(large.Limit, 10)+" bytes; send less, and binary files as base64.")
	case errors.Is(err, os.ErrDeadlineExceeded):
		return problemOf(http.StatusRequestTimeout, "The body did not arrive in time; send it at once.")
	case errors.As(err, &busy):
		return later(http.StatusTooManyRequests, "Too many snippets are running; try again later.", busy.RetryAfter)
	case errors.Is(err, errBudget):
		return later(http.StatusTooManyRequests, "Too many bodies are on their way, and this one was slow to arrive or large; try again later.", time.Second)
	case errors.Is(err, snippet.ErrUnavailable):
		p := later(http.StatusServiceUnavailable, "No sandbox is available; nothing ran. Try again later.", time.Second)
		p.cause = err
		return p
	case errors.Is(err, service.ErrDemoTime):
		return later(http.StatusServiceUnavailable, "The demo set took too long; try again later.", time.Second)
	case errors.Is(err, errRecords):
		p := later(http.StatusServiceUnavailable, "The records cannot be read; try again later.", time.Second)
		p.cause = err
		return p
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return later(http.StatusServiceUnavailable, "The request ended before its answer was there.", time.Second)
	}
	p := problemOf(http.StatusInternalServerError, "Something is wrong on our side; the log says what.")
	p.cause = err
	return p
}

func later(status int, detail string, after time.Duration) *Problem {
	p := problemOf(status, detail)
	p.retryAfter = after
	return p
}

// Refusal is a problem document for an answer that no handler gives: its headers,
// which end the connection, and its body. Without a retryAfter there is no such header.
func Refusal(status int, detail string, retryAfter time.Duration) (http.Header, []byte) {
	p := later(status, detail, retryAfter)
	body, _ := encode(p) // plain text and numbers: cannot fail
	h := http.Header{}
	setSafeHeaders(h)
	h.Set("Connection", "close")
	h.Set("Content-Type", "application/problem+json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	p.advise(h)
	return h, body
}

// advise says when it is worth trying again, in whole seconds.
func (p *Problem) advise(h http.Header) {
	if p.retryAfter > 0 {
		seconds := (p.retryAfter + time.Second - 1) / time.Second
		h.Set("Retry-After", strconv.FormatInt(int64(seconds), 10))
	}
}

// refuse answers with a problem, counts it if it is the request's own fault, and
// leaves the connection in a state in which the caller gets to read it.
func (s *server) refuse(w http.ResponseWriter, r *http.Request, p *Problem) {
	if p.cause != nil {
		s.log.LogAttrs(r.Context(), slog.LevelError, "request refused",
			slog.Int("status", p.Status), slog.String("cause", p.cause.Error()), slog.String("request_id", requestID(r)))
	}
	if p.Status < http.StatusInternalServerError && p.Status != http.StatusTooManyRequests {
		s.invalid.Add(1)
	}
	drain(w, r)
	p.advise(w.Header())
	s.write(w, p.Status, "application/problem+json", p)
}
