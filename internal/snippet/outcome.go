package snippet

import "fmt"

// Outcome is the verdict in one word. The zero value is invalid and is never
// written: a Result without a decision must not look like a success.
type Outcome string

// The four outcomes. Every run that was handed to a child has exactly one.
const (
	OK      Outcome = "OK"      // the snippet ended by itself with exit code 0
	Blocked Outcome = "BLOCKED" // a refused import or operation ended the snippet
	Timeout Outcome = "TIMEOUT" // the wall clock reached the deadline
	Error   Outcome = "ERROR"   // the snippet, a limit or the sandbox failed
)

// Outcomes lists the outcomes in their fixed order.
func Outcomes() []Outcome { return []Outcome{OK, Blocked, Timeout, Error} }

// Reason says why a run has its Outcome. The set is closed.
type Reason string

// The reasons. Each belongs to exactly one Outcome.
const (
	Completed       Reason = "completed"
	ImportDenied    Reason = "import_denied"
	OperationDenied Reason = "operation_denied"
	Deadline        Reason = "deadline"
	Exception       Reason = "exception"
	SyntaxError     Reason = "syntax_error"
	ExitStatus      Reason = "exit_status"
	MemoryLimit     Reason = "memory_limit" // an uncaught MemoryError, or killed by the limit
	DiskLimit       Reason = "disk_limit"   // the work folder grew over its size or entry cap
	CPULimit        Reason = "cpu_limit"
	ThreadLimit     Reason = "thread_limit"
	Signal          Reason = "signal"    // the child died by a signal that the sandbox did not send
	Abandoned       Reason = "abandoned" // the caller went away, so the run was ended; only records have it
	SandboxFailure  Reason = "sandbox_failure"
)

var outcomeOf = map[Reason]Outcome{
	Completed:       OK,
	ImportDenied:    Blocked,
	OperationDenied: Blocked,
	Deadline:        Timeout,
	Exception:       Error,
	SyntaxError:     Error,
	ExitStatus:      Error,
	MemoryLimit:     Error,
	DiskLimit:       Error,
	CPULimit:        Error,
	ThreadLimit:     Error,
	Signal:          Error,
	Abandoned:       Error,
	SandboxFailure:  Error,
}

// Reasons lists the reasons in their fixed order.
func Reasons() []Reason {
	return []Reason{
		Completed, ImportDenied, OperationDenied, Deadline, Exception, SyntaxError, ExitStatus,
		MemoryLimit, DiskLimit, CPULimit, ThreadLimit, Signal, Abandoned, SandboxFailure,
	}
}

// Outcome is the only outcome that goes with the reason; "" for an unknown one.
func (r Reason) Outcome() Outcome { return outcomeOf[r] }

// MarshalText refuses to write an outcome outside the closed set, so that a
// forgotten decision is an error here and not a lie on the wire.
func (o Outcome) MarshalText() ([]byte, error) {
	switch o {
	case OK, Blocked, Timeout, Error:
		return []byte(o), nil
	}
	return nil, fmt.Errorf("outcome %q is not one of OK, BLOCKED, TIMEOUT, ERROR", string(o))
}
