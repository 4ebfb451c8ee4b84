package sandbox

import (
	"fmt"
	"strings"

	"cloche/internal/snippet"
)

// hint says in a sentence or two what failed and what to change, in words that
// a model can act on. It never quotes the source.
func hint(r snippet.Result, job snippet.Job) string {
	switch r.Reason {
	case snippet.Completed:
		return completedHint(r, job.Policy)
	case snippet.ImportDenied, snippet.OperationDenied:
		return blockedHint(r, job.Policy)
	case snippet.Deadline:
		return fmt.Sprintf("The snippet was still running after %d ms. Do less work, end the loop or the wait, or raise timeout_ms (at most 20000).", job.Request.Timeout.Milliseconds())
	case snippet.MemoryLimit:
		return fmt.Sprintf("The snippet needed more than %d MiB of memory. Work on smaller pieces, or use generators in place of lists.", job.Limits.Memory>>20)
	case snippet.DiskLimit:
		return fmt.Sprintf("The work folder may hold %d MiB in %d files and folders. Write less, or remove what is no longer needed.", job.Limits.FolderBytes>>20, job.Limits.FolderEntries)
	case snippet.ThreadLimit:
		return fmt.Sprintf("The snippet started more than %d threads. Use a pool with few workers.", job.Limits.Threads)
	case snippet.CPULimit:
		return "The snippet used more CPU time than its timeout allows on all cores. Do less work."
	case snippet.Signal:
		return fmt.Sprintf("The interpreter was ended by %s. That is a crash in native code or, for SIGKILL, memory pressure on the host; change the call that was running.", *r.Signal)
	case snippet.Abandoned:
		return "The caller went away, so the run was ended."
	case snippet.SandboxFailure:
		return "The sandbox failed, not the snippet. Send it again."
	case snippet.ExitStatus:
		return fmt.Sprintf("The snippet ended itself with exit code %d. Exit with 0, or let it end normally, to report success.", *r.ExitCode)
	}
	return errorHint(r)
}

func completedHint(r snippet.Result, p snippet.Policy) string {
	if r.BlockedCount == 0 {
		return ""
	}
	return "The snippet went on after a refusal: " + blockedHint(r, p)
}

func blockedHint(r snippet.Result, p snippet.Policy) string {
	if len(r.Blocked) == 0 {
		return "An operation was refused. Use only the work folder and plain Python."
	}
	last := r.Blocked[len(r.Blocked)-1]
	if last.Rule == snippet.OperationDenied {
		return fmt.Sprintf("%q is not permitted here. Files: use relative paths in the work folder and the request's files; there is no network and no other process.", last.Target)
	}
	rule, _ := p.Find(last.Target)
	if rule.Instead == "" {
		return fmt.Sprintf("The module %q may not be imported. See GET /policy for what is refused and why.", last.Target)
	}
	return fmt.Sprintf("The module %q may not be imported. Use instead: %s.", last.Target, rule.Instead)
}

// errorHints are for the mistakes that models make most, by exception type.
var errorHints = map[string]string{
	"ModuleNotFoundError": "The module is not installed here and nothing can be installed. Use the standard library or a package that GET /packages lists, or send the module as a file.",
	"EOFError":            "input() found no more input. Send the text in the request's stdin.",
	"FileNotFoundError":   "The file is not in the work folder. Send it in the request's files and open it by its relative path.",
	"RecursionError":      "The recursion does not end or is too deep. Add a base case or use a loop.",
	"TimeoutError":        "A wait inside the snippet timed out.",
}

func errorHint(r snippet.Result) string {
	if r.Error == nil {
		return "The snippet failed; see stderr."
	}
	if special, ok := errorHints[r.Error.Type]; ok {
		return special
	}
	if r.Error.Type == "RuntimeError" && strings.Contains(r.Error.Message, "start new thread") {
		return "No further thread fits into the memory of a run (about 250 with the usual stack). Use a pool with few workers."
	}
	if r.Error.Type == "NameError" && strings.Contains(r.Error.Message, "__file__") {
		return "There is no script file. Use pathlib.Path.cwd() for the work folder."
	}
	where := ""
	if r.Error.Line != nil {
		where = fmt.Sprintf(" at line %d", *r.Error.Line)
	}
	if r.Reason == snippet.SyntaxError {
		return fmt.Sprintf("The code is not valid Python%s; nothing ran. Mend the syntax.", where)
	}
	return fmt.Sprintf("An uncaught %s%s ended the snippet; error.message and error.traceback say more.", r.Error.Type, where)
}
