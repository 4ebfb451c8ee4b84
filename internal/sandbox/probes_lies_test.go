package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"cloche/internal/snippet"
)

// A run that took over its interpreter says what it likes about itself: its value,
// its exception, its refusals and how it ended, as it prints what it likes. The
// probes that lie show that it gets no further: all that the server sees by itself
// comes out as it was, its own word stays within bounds, and a run beside it is
// told truly.

// What a lying probe really does before it lies: work, in prelude.py.
const (
	workOut    = "all that was printed\n"
	workErr    = "all that was complained\n"
	workFile   = "kept.txt"
	workText   = "all that was kept\n"
	workCPU    = 100 * time.Millisecond
	workTime   = 200 * time.Millisecond // with the processor's
	workMemory = 64 << 20
)

// lieWord begins the value of a forged report, or the type of its exception.
const lieWord = "LIE"

// notItsOwn is in what a lying probe tells with a token that is not its own.
const notItsOwn = "not of this run"

// noVerdict is what a lying probe says where there is no channel to lie on.
const noVerdict = "HELD there is no verdict to forge"

// truth is what the test knows of a run that lies.
type truth struct {
	id     string
	files  bool           // whether it could keep a file
	reason snippet.Reason // the limit that ended it; "" if none did
	took   time.Duration  // no longer than this
	memory int64          // no more than this, which the kernel keeps
}

// lie runs a probe that forges its report, with an honest run beside it, and says
// what came out false of either.
func (m *measurement) lie(p probe, program string) string {
	j := job(program)
	j.ID, j.Request.Timeout = "run-of-"+p.name, probeTimeout
	want := truth{id: j.ID, files: m.box.layers.wall != wallNoFiles, memory: m.memory}
	if p.timeout != 0 {
		j.Request.Timeout, want.reason = p.timeout, snippet.Deadline
	}
	beside := make(chan string, 1)
	go func() { beside <- m.honest() }()
	r, took, err := m.run(j)
	// A deadline may come before the work is done, however long it is: the machine
	// may be busy with others. Then nothing is known of what was used.
	for want.reason != "" && err == nil && r.Stdout == "" && j.Request.Timeout < probeTimeout {
		j.Request.Timeout *= 2
		r, took, err = m.run(j)
	}
	want.took = took
	other := <-beside
	words, _ := json.Marshal(r)
	switch rest := strings.TrimPrefix(r.Stdout, workOut); {
	case err != nil:
		return err.Error()
	case other != "":
		return "PASSED the run beside it: " + other
	case strings.TrimSpace(rest) == noVerdict:
		return "no token was found"
	case rest != "": // it gave up: who lies is ended by it
		return oneLine(rest, r.Stderr)
	case strings.Contains(string(words), notItsOwn):
		return "PASSED a report was heard that begins with another token"
	case want.reason == "" && !believed(r):
		return fmt.Sprintf("the lie was not heard: %+v", r)
	}
	if faults := falsehoods(r, want); len(faults) > 0 {
		return "PASSED false: " + strings.Join(faults, "; ")
	}
	return "HELD it lied about itself alone"
}

// run runs a job that is told how many seconds it has, and says how long that took.
func (m *measurement) run(j snippet.Job) (snippet.Result, time.Duration, error) {
	j.Request.Stdin = fmt.Sprintln(j.Request.Timeout.Seconds())
	began := time.Now()
	r, err := m.box.Run(context.Background(), j)
	return r, time.Since(began), err
}

func believed(r snippet.Result) bool {
	return r.Value != nil && strings.HasPrefix(*r.Value, lieWord) || r.Error != nil && strings.HasPrefix(r.Error.Type, lieWord)
}

// honest is a run of which everything is known. It returns what is wrong with its
// answer.
func (m *measurement) honest() string {
	j := job("import time\nprint('mine')\ntime.sleep(0.2)\n6 * 7")
	j.ID = "honest"
	j.Request.Timeout = probeTimeout
	r, err := m.box.Run(context.Background(), j)
	if err != nil {
		return err.Error()
	}
	value, code := "42", 0
	want := snippet.Result{
		ID: j.ID, Outcome: snippet.OK, Reason: snippet.Completed, Stdout: "mine\n", StdoutBytes: 5, Value: &value,
		Blocked: []snippet.Refusal{}, ExitCode: &code, Files: []snippet.Artifact{},
		DurationMS: r.DurationMS, CPUMS: r.CPUMS, PeakMemoryBytes: r.PeakMemoryBytes,
	}
	if !reflect.DeepEqual(r, want) || r.DurationMS < 200 || r.CPUMS > r.DurationMS || r.PeakMemoryBytes <= 0 || r.PeakMemoryBytes > m.memory {
		return fmt.Sprintf("%+v", r)
	}
	return ""
}

// falsehoods lists what an answer says wrongly of a run that lied.
func falsehoods(r snippet.Result, want truth) (faults []string) {
	say := func(right bool, what string, is any) {
		if !right {
			faults = append(faults, fmt.Sprintf("%s %.100s", what, fmt.Sprint(is)))
		}
	}
	say(r.ID == want.id, "id", r.ID)
	say(r.Stdout == workOut && !r.StdoutTruncated, "stdout", r.Stdout)
	say(r.StdoutBytes == int64(len(workOut)), "stdout_bytes", r.StdoutBytes)
	say(r.Stderr == workErr && !r.StderrTruncated, "stderr", r.Stderr)
	say(r.StderrBytes == int64(len(workErr)), "stderr_bytes", r.StderrBytes)
	say(r.DurationMS >= milliseconds(workTime) && r.DurationMS <= milliseconds(want.took), "duration_ms", r.DurationMS)
	say(r.CPUMS >= milliseconds(workCPU) && r.CPUMS <= r.DurationMS*float64(runtime.NumCPU()), "cpu_ms", r.CPUMS)
	say(r.PeakMemoryBytes >= workMemory && r.PeakMemoryBytes <= want.memory, "peak_memory_bytes", r.PeakMemoryBytes)
	say(r.FilesOmitted == 0, "files_omitted", r.FilesOmitted)
	say(kept(r.Files, want.files), "files", r.Files)
	say(r.Outcome == r.Reason.Outcome(), "outcome", r.Outcome)
	if want.reason != "" { // the limit has the word, and the run none
		say(r.Reason == want.reason, "reason", r.Reason)
		say(r.ExitCode == nil && orNull(r.Signal) == "SIGKILL", "signal", orNull(r.Signal))
		say(r.Value == nil && r.Error == nil, "value", orNull(r.Value))
		return faults
	}
	say(slices.Contains(ownReasons, r.Reason), "reason", r.Reason)
	say(r.Signal == nil && r.ExitCode != nil, "signal", orNull(r.Signal))
	return append(faults, unbounded(r)...)
}

// ownReasons are those that a run gives itself. The others are the server's: it
// sees a deadline, a limit, a signal.
var ownReasons = []snippet.Reason{
	snippet.Completed, snippet.Exception, snippet.SyntaxError, snippet.ExitStatus,
	snippet.ImportDenied, snippet.OperationDenied, snippet.MemoryLimit, snippet.DiskLimit,
}

// kept reports whether files are the one that the run made.
func kept(files []snippet.Artifact, possible bool) bool {
	if !possible {
		return len(files) == 0
	}
	if len(files) != 1 {
		return false
	}
	f, sum := files[0], sha256.Sum256([]byte(workText))
	return f.Path == workFile && f.Size == int64(len(workText)) && orNull(f.Content) == workText && f.Encoding == "utf-8" &&
		orNull(f.SHA256) == hex.EncodeToString(sum[:]) && f.MediaType == mediaType(workFile, []byte(workText)) && f.Omitted == ""
}

// unbounded lists what of a run's own word is longer, larger or stranger than the
// contract lets any run say.
func unbounded(r snippet.Result) (faults []string) {
	say := func(right bool, what string) {
		if !right {
			faults = append(faults, what+" is out of bounds")
		}
	}
	fits := func(s string, most int) bool { return utf8.ValidString(s) && utf8.RuneCountInString(s) <= most }
	plain := func(s string) bool { return fits(s, maxTarget) && !strings.ContainsFunc(s, unicode.IsControl) }
	placed := func(n *int) bool { return n == nil || *n >= 1 && *n <= snippet.MaxCode }
	if r.ExitCode != nil {
		say(*r.ExitCode >= 0 && *r.ExitCode < 256 && (r.Outcome == snippet.OK) == (*r.ExitCode == 0), "exit_code")
	}
	if r.Value != nil {
		say(fits(*r.Value, snippet.MaxValue), "value")
	}
	if e := r.Error; e != nil {
		say(plain(e.Type) && placed(e.Line), "error.type or line")
		say(fits(e.Message, snippet.MaxMessage) && fits(e.Traceback, snippet.MaxTraceback), "error.message or traceback")
	}
	say(len(r.Blocked) <= snippet.MaxRefusals, "blocked")
	say(r.BlockedCount >= len(r.Blocked) && r.BlockedCount <= maxRefusals, "blocked_count")
	for _, b := range r.Blocked {
		say(b.Rule.Outcome() == snippet.Blocked && plain(b.Target) && plain(b.File) && placed(b.Line), "a refusal")
	}
	say(fits(r.Hint, 1000), "hint")
	return faults
}

// TestFalsehoodsAreSeen holds the judge of the lying probes to account for every
// field of an answer, also for one that is new.
func TestFalsehoodsAreSeen(t *testing.T) {
	want := truth{id: "id", files: true, took: time.Second, memory: 256 << 20}
	sum := sha256.Sum256([]byte(workText))
	honest := func() snippet.Result {
		return snippet.Result{
			ID: "id", Outcome: snippet.OK, Reason: snippet.Completed,
			Stdout: workOut, StdoutBytes: int64(len(workOut)), Stderr: workErr, StderrBytes: int64(len(workErr)),
			Value: text(lieWord), Blocked: []snippet.Refusal{}, ExitCode: new(int),
			Files: []snippet.Artifact{{
				Path: workFile, Size: int64(len(workText)), SHA256: text(hex.EncodeToString(sum[:])),
				MediaType: mediaType(workFile, nil), Content: text(workText), Encoding: "utf-8",
			}},
			DurationMS: 300, CPUMS: 150, PeakMemoryBytes: 100 << 20,
		}
	}
	if faults := falsehoods(honest(), want); len(faults) > 0 {
		t.Fatalf("an honest answer: %v", faults)
	}
	long, far := strings.Repeat("x", 100_000), 1<<40
	lies := map[string][]any{
		"ID": {"", "other"}, "Outcome": {snippet.Error, snippet.Timeout}, "Reason": {snippet.Deadline, snippet.Signal, snippet.CPULimit, snippet.SandboxFailure},
		"Stdout": {"", lieWord}, "Stderr": {"", lieWord}, "StdoutBytes": {int64(0), int64(far)}, "StderrBytes": {int64(0), int64(far)},
		"StdoutTruncated": {true}, "StderrTruncated": {true},
		"Value": {&long}, "Error": {&snippet.Failure{Type: long}, &snippet.Failure{Type: "E\n"}, &snippet.Failure{Message: long}, &snippet.Failure{Traceback: long}, &snippet.Failure{Line: &far}},
		"Blocked": {
			make([]snippet.Refusal, snippet.MaxRefusals+1),
			[]snippet.Refusal{{Rule: snippet.Deadline}},
			[]snippet.Refusal{{Rule: snippet.ImportDenied, Target: long}},
			[]snippet.Refusal{{Rule: snippet.ImportDenied, File: "a\x00"}},
		},
		"BlockedCount": {-1, far}, "ExitCode": {(*int)(nil), &far}, "Signal": {text("SIGSEGV")},
		"Files": {[]snippet.Artifact{}, []snippet.Artifact{{Path: "other"}}, append(honest().Files, honest().Files...)}, "FilesOmitted": {1},
		"DurationMS": {0.0, 1e9}, "CPUMS": {0.0, 1e9}, "PeakMemoryBytes": {int64(0), int64(far)}, "Hint": {long},
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[snippet.Result]()) {
		if lies[field.Name] == nil {
			t.Errorf("no lie about %s", field.Name)
		}
		for _, lie := range lies[field.Name] {
			r := honest()
			reflect.ValueOf(&r).Elem().FieldByIndex(field.Index).Set(reflect.ValueOf(lie))
			if len(falsehoods(r, want)) == 0 {
				t.Errorf("%s is %.100v, and nobody minds", field.Name, lie)
			}
		}
	}
}
