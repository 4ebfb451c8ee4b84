package gateway

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"time"
	"unicode"

	"cloche/internal/snippet"
)

// Bounds of a verdict that the contract does not name. They are what our own
// sandbox never exceeds.
const (
	maxName   = 250      // characters of an exception's type and of a refusal's texts
	maxHint   = 4000     // characters
	maxMemory = 10 << 30 // bytes; more than a function can have
	maxCount  = 1 << 50  // bytes written, refusals
	maxFiles  = 1 << 30  // far above what a work folder may hold
	maxPath   = 16 << 10 // bytes of a file's path
	maxCores  = 64       // more than a function can have; the emulator shows it those of its host
)

// grace is how much longer than its timeout a run may seem to have taken.
const grace = 5 * time.Second

// signalForm also holds for signals that have no name.
var signalForm = regexp.MustCompile(`^(SIG[A-Z0-9+]+)?$`)

// believe checks a verdict against the contract, the job and our own clock: took
// is how long we waited for it. What snippets may write at will is not judged,
// only that there is no more of it than there may be.
func believe(r snippet.Result, job snippet.Job, took time.Duration) error {
	for _, list := range [][]check{agreement(r), words(r, job), numbers(r, job, took), refusals(r), artifacts(r)} {
		for _, c := range list {
			if !c.holds {
				return fmt.Errorf("%w: %s", errForged, c.field)
			}
		}
	}
	return nil
}

// agreement is about what the parts of a verdict say of the same end: in our
// sandbox all of them follow from one.
func agreement(r snippet.Result) []check {
	return []check{
		{"outcome", r.Outcome != "" && r.Outcome == r.Reason.Outcome()},
		{"reason", r.Reason != snippet.Abandoned}, // only we can leave
		{"exit_code and signal", endsSo(r)},
		{"error", r.Error == nil || r.Reason != snippet.Completed && r.Reason != snippet.ExitStatus},
		{"no error", r.Error != nil || r.Reason != snippet.Exception && r.Reason != snippet.SyntaxError},
		{"blocked", len(r.Blocked) > 0 || r.BlockedCount == 0 && r.Outcome != snippet.Blocked},
	}
}

// endsSo reports whether a run with this reason ends with such an exit code or
// signal.
func endsSo(r snippet.Result) bool {
	exited, killed := r.ExitCode != nil && r.Signal == nil, r.ExitCode == nil && r.Signal != nil
	failed := exited && *r.ExitCode != 0
	switch r.Reason {
	case snippet.Completed:
		return exited && !failed
	case snippet.Deadline, snippet.CPULimit, snippet.ThreadLimit, snippet.Signal:
		return killed
	case snippet.OperationDenied, // a flood of the sandbox's channel is ended from outside
		snippet.MemoryLimit, snippet.DiskLimit: // the snippet may see the limit first, or not at all
		return failed || killed
	case snippet.SandboxFailure:
		return r.ExitCode == nil && r.Signal == nil
	}
	return failed
}

func words(r snippet.Result, job snippet.Job) []check {
	checks := []check{
		{"id", r.ID == job.ID},
		{"stdout", short(r.Stdout, job.Limits.StdoutChars)},
		{"stderr", short(r.Stderr, job.Limits.StderrChars)},
		{"value", r.Value == nil || short(*r.Value, snippet.MaxValue)},
		{"signal", r.Signal == nil || short(*r.Signal, maxName) && signalForm.MatchString(*r.Signal)},
		{"hint", short(r.Hint, maxHint)},
	}
	if e := r.Error; e != nil {
		checks = append(checks, check{"error", short(e.Type, maxName) && short(e.Message, snippet.MaxMessage) &&
			short(e.Traceback, snippet.MaxTraceback)})
	}
	return checks
}

func numbers(r snippet.Result, job snippet.Job, took time.Duration) []check {
	most := min(took, job.Request.Timeout+grace)
	return []check{
		{"duration_ms", within(r.DurationMS, most)},
		{"deadline", r.Reason != snippet.Deadline || took >= job.Request.Timeout},
		{"cpu_ms", within(r.CPUMS, maxCores*most+time.Second)},
		{"peak_memory_bytes", r.PeakMemoryBytes >= 0 && r.PeakMemoryBytes <= maxMemory},
		{"stdout_bytes", isCount(r.StdoutBytes)},
		{"stderr_bytes", isCount(r.StderrBytes)},
		{"exit_code", r.ExitCode == nil || *r.ExitCode >= 0 && *r.ExitCode <= 0xFF},
		{"blocked_count", isCount(int64(r.BlockedCount)) && r.BlockedCount >= len(r.Blocked)},
		{"files_omitted", r.FilesOmitted >= 0 && r.FilesOmitted <= maxFiles},
	}
}

// within allows a millisecond for rounding.
func within(ms float64, most time.Duration) bool {
	return ms >= 0 && ms <= float64(most)/float64(time.Millisecond)+1
}

func isCount(n int64) bool { return n >= 0 && n <= maxCount }

func refusals(r snippet.Result) []check {
	checks := []check{{"blocked", len(r.Blocked) <= snippet.MaxRefusals}}
	for _, b := range r.Blocked {
		checks = append(checks, check{"blocked", b.Rule.Outcome() == snippet.Blocked &&
			short(b.Target, maxName) && short(b.File, maxName)})
	}
	return checks
}

func artifacts(r snippet.Result) []check {
	checks := []check{{"files", len(r.Files) <= snippet.MaxArtifacts}}
	total := 0
	taken := make(map[string]bool, len(r.Files))
	for _, a := range r.Files {
		content, ok := contentOf(a)
		total += len(content)
		checks = append(checks, check{"file", ok && isPath(a.Path) && !taken[a.Path] && isCount(a.Size) &&
			isLine(a.MediaType, maxName) && isLine(a.Omitted, maxName)})
		taken[a.Path] = true
	}
	return append(checks, check{"files", total <= snippet.MaxArtifact})
}

// isPath holds for paths that stay inside the folder that they are joined to,
// and that can be shown.
func isPath(path string) bool {
	return len(path) <= maxPath && path != "." && fs.ValidPath(path) && !strings.ContainsFunc(path, unicode.IsControl)
}

// contentOf decodes a file; it is false if what is said about the content is not
// true.
func contentOf(a snippet.Artifact) (content []byte, ok bool) {
	if a.Encoding != "utf-8" && a.Encoding != "base64" {
		return nil, false
	}
	if a.Content == nil {
		return nil, a.SHA256 == nil && a.Omitted != ""
	}
	var err error
	if content = []byte(*a.Content); a.Encoding == "base64" {
		content, err = base64.StdEncoding.DecodeString(*a.Content)
	}
	sum := sha256.Sum256(content)
	return content, err == nil && a.Omitted == "" && int64(len(content)) == a.Size &&
		a.SHA256 != nil && *a.SHA256 == hex.EncodeToString(sum[:])
}
