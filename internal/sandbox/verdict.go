package sandbox

import (
	"math"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"cloche/internal/snippet"
)

// cpuSeconds is the CPU backstop: what every core can burn within the timeout,
// in whole seconds as RLIMIT_CPU counts (getrlimit(2)), and one more.
func cpuSeconds(timeout time.Duration) uint64 {
	return uint64(math.Ceil(timeout.Seconds()*float64(runtime.NumCPU()))) + 1
}

// verdict makes the result of everything but the files. What was seen from
// outside wins over the child's word.
func (r *run) verdict(e ending) snippet.Result {
	result := snippet.Result{
		ID: r.job.ID, Blocked: r.inbox.refusals, BlockedCount: len(r.inbox.refusals), Files: []snippet.Artifact{},
		DurationMS: milliseconds(e.duration), CPUMS: milliseconds(e.cpu), PeakMemoryBytes: e.peak,
		StdoutBytes: r.stdout.total, StderrBytes: r.stderr.total,
	}
	result.Stdout, result.StdoutTruncated = r.stdout.text()
	result.Stderr, result.StderrTruncated = r.stderr.text()
	if result.Blocked == nil {
		result.Blocked = []snippet.Refusal{}
	}
	switch {
	case e.report == nil:
	case len(result.Blocked) == 0: // each run's first refusals are told as they happen: there was none
		e.report.Refused = ""
	default:
		result.BlockedCount = max(result.BlockedCount, e.report.BlockedCount)
	}
	result.Reason = r.reason(e)
	if e.report != nil {
		result.Value, result.Error = e.report.Value, e.report.failure(result.Reason)
	}
	result.ExitCode, result.Signal = status(e)
	result.Outcome = result.Reason.Outcome()
	result.Hint = hint(result, r.job)
	return result
}

func milliseconds(d time.Duration) float64 {
	return math.Round(float64(d.Microseconds())) / 1000
}

// reason chooses: the first rule that holds.
func (r *run) reason(e ending) snippet.Reason {
	switch {
	case e.fault != nil:
		return snippet.SandboxFailure
	case e.limit != "":
		return e.limit
	case e.report != nil:
		return e.report.reason()
	case e.exit.status.Signaled():
		return r.signalReason(e)
	case e.exit.status.ExitStatus() != 0:
		return snippet.ExitStatus
	}
	return snippet.Completed // it left by itself with status 0, past the harness (os._exit)
}

func (r *report) reason() snippet.Reason {
	switch {
	case r.Refused != "" && r.ExitCode != 0:
		return r.Refused
	case r.Memory:
		return snippet.MemoryLimit
	case r.Disk:
		return snippet.DiskLimit
	case r.End == endSyntax:
		return snippet.SyntaxError
	case r.End == endException:
		return snippet.Exception
	case r.ExitCode != 0:
		return snippet.ExitStatus
	}
	return snippet.Completed
}

// failure is the exception that goes with a reason: none with those that no
// exception gives, and never none with those that one does.
func (r *report) failure(reason snippet.Reason) *snippet.Failure {
	switch reason {
	case snippet.Completed, snippet.ExitStatus:
		return nil
	case snippet.Exception, snippet.SyntaxError, snippet.MemoryLimit:
		if r.Error == nil {
			r.Error = &snippet.Failure{}
		}
		if r.Error.Type == "" {
			r.Error.Type = map[snippet.Reason]string{
				snippet.Exception: "Exception", snippet.SyntaxError: "SyntaxError", snippet.MemoryLimit: "MemoryError",
			}[reason]
		}
	}
	return r.Error
}

func (r *run) signalReason(e ending) snippet.Reason {
	switch e.exit.status.Signal() {
	case unix.SIGXCPU: // believed if as much was used, seen from outside
		if e.exit.cpu >= time.Duration(cpuSeconds(r.timeout()))*time.Second {
			return snippet.CPULimit
		}
	case unix.SIGXFSZ:
		return snippet.DiskLimit
	}
	return snippet.Signal
}

// status is the exit code or the signal, never both. A run that the sandbox
// ended was ended by SIGKILL.
func status(e ending) (code *int, signal *string) {
	switch {
	case e.fault != nil:
		return nil, nil
	case e.limit != "":
		return nil, text(unix.SignalName(unix.SIGKILL))
	case e.report != nil:
		return &e.report.ExitCode, nil
	case e.exit.status.Signaled():
		return nil, text(unix.SignalName(e.exit.status.Signal()))
	}
	exited := e.exit.status.ExitStatus()
	return &exited, nil
}

func text(s string) *string { return &s }
