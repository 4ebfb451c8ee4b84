package gateway

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"regexp"
	"time"

	"cloche/internal/snippet"
)

// Bounds of a verdict that the contract does not name. They are what our own
// sandbox never exceeds.
const (
	maxName   = 250      // characters of an exception's type and of a refusal's texts
	maxHint   = 4000     // characters
	maxMemory = 10 << 30 // bytes; more than a function can have
	maxCount  = 1 << 50  // bytes written, refusals, files
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
	for _, list := range [][]check{words(r, job), numbers(r, job, took), refusals(r), artifacts(r)} {
		for _, c := range list {
			if !c.holds {
				return fmt.Errorf("%w: %s", errForged, c.field)
			}
		}
	}
	return nil
}

func words(r snippet.Result, job snippet.Job) []check {
	checks := []check{
		{"id", r.ID == job.ID},
		{"outcome", r.Outcome != "" && r.Outcome == r.Reason.Outcome()},
		{"reason", r.Reason != snippet.Abandoned}, // only we can leave
		{"stdout", short(r.Stdout, job.Limits.StdoutChars)},
		{"stderr", short(r.Stderr, job.Limits.StderrChars)},
		{"value", r.Value == nil || short(*r.Value, snippet.MaxValue)},
		{"signal", r.Signal == nil || r.ExitCode == nil && short(*r.Signal, maxName) && signalForm.MatchString(*r.Signal)},
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
		{"files_omitted", isCount(int64(r.FilesOmitted))},
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
	for _, a := range r.Files {
		content, ok := contentOf(a)
		total += len(content)
		checks = append(checks, check{"file", ok && a.Path != "" && isCount(a.Size) &&
			short(a.MediaType, maxName) && short(a.Omitted, maxName)})
	}
	return append(checks, check{"files", total <= snippet.MaxArtifact})
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
