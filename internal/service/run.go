package service

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"time"

	"cloche/internal/metrics"
	"cloche/internal/snippet"
)

const failureHint = "The sandbox failed, not the snippet. Send the same request again."

var errVerdict = errors.New("runner returned no valid verdict")

// run is one job on its way: what was asked, what came of it.
type run struct {
	caller Caller
	job    snippet.Job
	hash   string // SHA-256 of the code, lower-case hexadecimal
	queued time.Duration
	result snippet.Result
	cause  error // why the sandbox failed; nil if it did not
}

func newRun(job snippet.Job, caller Caller) *run {
	sum := sha256.Sum256([]byte(job.Request.Code))
	return &run{caller: caller, job: job, hash: hex.EncodeToString(sum[:])}
}

// settle makes the result one that may be shown: a fault of the sandbox is a
// verdict too, and a verdict that contradicts itself is such a fault.
func (r *run) settle(err error, took time.Duration) {
	switch {
	case err != nil:
		r.fail(err, took)
	case r.result.Outcome == "" || r.result.Outcome != r.result.Reason.Outcome():
		r.fail(errVerdict, took)
	}
	r.result.ID = r.job.ID
	if r.result.Blocked == nil {
		r.result.Blocked = []snippet.Refusal{}
	}
	if r.result.Files == nil {
		r.result.Files = []snippet.Artifact{}
	}
}

func (r *run) fail(cause error, took time.Duration) {
	r.cause = cause
	r.result = snippet.Result{
		Outcome:    snippet.Error,
		Reason:     snippet.SandboxFailure,
		DurationMS: milliseconds(took),
		Hint:       failureHint,
	}
}

// event holds numbers to what stores take: a runner must not be able to choose
// that a run is not counted, whatever it says.
func (r *run) event(now time.Time) metrics.Event {
	res := r.result
	e := metrics.Event{
		ID:           r.job.ID,
		Time:         now.UTC(),
		Tenant:       r.caller.Tenant,
		RequestID:    r.caller.RequestID,
		Demo:         r.caller.Demo,
		Outcome:      res.Outcome,
		Reason:       res.Reason,
		DurationMS:   fitTime(res.DurationMS),
		CPUMS:        fitTime(res.CPUMS),
		PeakMemory:   fitCount(res.PeakMemoryBytes),
		QueueMS:      milliseconds(r.queued),
		CodeSHA256:   r.hash,
		CodeBytes:    len(r.job.Request.Code),
		StdoutBytes:  fitCount(res.StdoutBytes),
		StderrBytes:  fitCount(res.StderrBytes),
		FilesIn:      len(r.job.Request.Files),
		FilesOut:     fitCount(len(res.Files) + fitCount(res.FilesOmitted)),
		BlockedCount: fitCount(res.BlockedCount),
	}
	if len(res.Blocked) > 0 {
		e.Blocked = firstRunes(res.Blocked[0].Target, metrics.MaxText)
	}
	return e
}

func fitCount[T int | int64](n T) T { return T(min(max(int64(n), 0), metrics.MaxCount)) }

// fitTime makes 0 of what is no number.
func fitTime(ms float64) float64 {
	if ms > 0 {
		return min(ms, metrics.MaxMS)
	}
	return 0
}

// level makes the service's own faults stand out; a snippet's are everyday.
func (r *run) level() slog.Level {
	if r.cause != nil {
		return slog.LevelError
	}
	return slog.LevelInfo
}

// attrs are the run's line in the log. Nothing in it is text that the snippet
// chose; the handler escapes what the caller chose.
func (r *run) attrs(e metrics.Event) []slog.Attr {
	attrs := append(r.who(),
		slog.String("outcome", string(e.Outcome)),
		slog.String("reason", string(e.Reason)),
		slog.Float64("duration_ms", e.DurationMS),
		slog.Float64("queue_ms", e.QueueMS),
		slog.Int64("stdout_bytes", e.StdoutBytes),
		slog.Int64("stderr_bytes", e.StderrBytes),
		slog.Int("files_out", e.FilesOut),
		slog.Int("blocked_count", e.BlockedCount),
	)
	if r.cause != nil {
		attrs = append(attrs, slog.String("cause", r.cause.Error()))
	}
	return attrs
}

func (r *run) who() []slog.Attr {
	return []slog.Attr{
		slog.String("id", r.job.ID),
		slog.String("request_id", r.caller.RequestID),
		slog.String("tenant", r.caller.Tenant),
		slog.Bool("demo", r.caller.Demo),
		slog.String("code_sha256", r.hash),
		slog.Int("code_bytes", len(r.job.Request.Code)),
		slog.Int("stdin_bytes", len(r.job.Request.Stdin)),
		slog.Int("files_in", len(r.job.Request.Files)),
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func firstRunes(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}
