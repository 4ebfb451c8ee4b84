package gateway

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"cloche/internal/snippet"
)

// Each of these is a runner that lies, or that somebody else made to.
func TestForgedReplies(t *testing.T) {
	result := func(change func(*snippet.Result)) step {
		return replies(func(r *reply) { change(r.Result) })
	}
	for name, forged := range map[string]step{
		"nothing":                 says(``),
		"null":                    says(`null`),
		"text":                    says(`"OK"`),
		"other object":            says(`{"statusCode": 200, "body": "x"}`),
		"more than one":           says(`{} {}`),
		"unknown key":             says(`{"id": "%s", "refusal": "x", "more": 1}`),
		"key in capitals":         says(`{"ID": "%s", "refusal": "x"}`),
		"key twice":               says(`{"id": "%s", "id": "%s", "refusal": "x"}`),
		"not UTF-8":               says("{\"id\": \"%s\", \"refusal\": \"\xff\"}"),
		"endless number":          says(`{"id": "%s", "result": {"id": "%s", "outcome": "OK", "reason": "completed", "duration_ms": 1e999}}`),
		"unknown key of a result": says(`{"id": "%s", "result": {"id": "%s", "outcome": "OK", "reason": "completed", "admin": true}}`),
		"unknown outcome":         says(`{"id": "%s", "result": {"id": "%s", "outcome": "FINE", "reason": "fine"}}`),
		"no outcome":              says(`{"id": "%s", "result": {"id": "%s"}}`),
		"other reason's outcome":  says(`{"id": "%s", "result": {"id": "%s", "outcome": "OK", "reason": "deadline"}}`),
		"result and refusal":      replies(func(r *reply) { r.Refusal = "x" }),
		"neither":                 replies(func(r *reply) { r.Result = nil }),
		"long refusal":            replies(func(r *reply) { r.Result, r.Refusal = nil, runes(maxLayer+1) }),
		"many fields": replies(func(r *reply) {
			r.Result, r.Fields = nil, make(snippet.FieldErrors, maxProblems+1)
		}),
		"long diary":          replies(func(r *reply) { r.Diary = runes(maxDiary + 1) }),
		"long version":        replies(func(r *reply) { r.Runtime.Python = runes(maxVersion + 1) }),
		"many layers":         replies(func(r *reply) { r.Runtime.Layers = make([]snippet.Layer, maxLayers+1) }),
		"long layer":          replies(func(r *reply) { r.Runtime.Layers[0].Detail = runes(maxLayer + 1) }),
		"escape in a layer":   replies(func(r *reply) { r.Runtime.Layers[0].Detail = "\x1b[2J" }),
		"line in the version": replies(func(r *reply) { r.Runtime.Python = "3.13\n" }),
		"fields for no files": replies(func(r *reply) { r.Result, r.Fields = nil, snippet.FieldErrors{{Field: "files"}} }),
		"many packages": replies(func(r *reply) {
			r.Runtime.Packages.List = make([]snippet.Package, snippet.MaxPackages+1)
		}),
		"package without a name": replies(func(r *reply) { r.Runtime.Packages.List = []snippet.Package{{Version: "1"}} }),
		"long package":           replies(func(r *reply) { r.Runtime.Packages.List = []snippet.Package{{Module: runes(101)}} }),
		"line in a package":      replies(func(r *reply) { r.Runtime.Packages.List = []snippet.Package{{Module: "x", Version: "1 \n"}} }),
		"packages below zero":    replies(func(r *reply) { r.Runtime.Packages.Omitted = -1 }),
		"id of a result":         result(func(r *snippet.Result) { r.ID = "other" }),
		"caller left":            result(func(r *snippet.Result) { r.Outcome, r.Reason = snippet.Error, snippet.Abandoned }),
		"early deadline":         result(func(r *snippet.Result) { r.Outcome, r.Reason = snippet.Timeout, snippet.Deadline }),
		"long stdout":            result(func(r *snippet.Result) { r.Stdout = runes(4001) }),
		"long stderr":            result(func(r *snippet.Result) { r.Stderr = runes(2001) }),
		"long value":             result(func(r *snippet.Result) { r.Value = ptr(runes(snippet.MaxValue + 1)) }),
		"long hint":              result(func(r *snippet.Result) { r.Hint = runes(maxHint + 1) }),
		"long error": result(func(r *snippet.Result) {
			r.Error = &snippet.Failure{Traceback: runes(snippet.MaxTraceback + 1)}
		}),
		"signal": result(func(r *snippet.Result) { r.ExitCode, r.Signal = nil, ptr("<b>") }),
		"signal and exit code": result(func(r *snippet.Result) {
			r.Signal = ptr("SIGKILL")
		}),
		"exit code":             result(func(r *snippet.Result) { r.ExitCode = ptr(256) }),
		"time before":           result(func(r *snippet.Result) { r.DurationMS = -1 }),
		"time to come":          result(func(r *snippet.Result) { r.DurationMS = 60_000 }),
		"processor time":        result(func(r *snippet.Result) { r.CPUMS = math.MaxFloat64 }),
		"memory":                result(func(r *snippet.Result) { r.PeakMemoryBytes = math.MaxInt64 }),
		"bytes":                 result(func(r *snippet.Result) { r.StdoutBytes = math.MaxInt64 }),
		"bytes below zero":      result(func(r *snippet.Result) { r.StderrBytes = -1 }),
		"files below zero":      result(func(r *snippet.Result) { r.FilesOmitted = -1 }),
		"files beyond counting": result(func(r *snippet.Result) { r.FilesOmitted = maxFiles + 1 }),
		"refusals uncounted": result(func(r *snippet.Result) {
			r.Blocked = []snippet.Refusal{{Rule: snippet.ImportDenied, Target: "os"}}
		}),
		"many refusals": result(func(r *snippet.Result) {
			r.Blocked, r.BlockedCount = make([]snippet.Refusal, snippet.MaxRefusals+1), 60
		}),
		"rule of a refusal": result(func(r *snippet.Result) {
			r.Blocked, r.BlockedCount = []snippet.Refusal{{Rule: "anything"}}, 1
		}),
		"long refusal of a run": result(func(r *snippet.Result) {
			r.Blocked, r.BlockedCount = []snippet.Refusal{{Rule: snippet.ImportDenied, Target: runes(maxName + 1)}}, 1
		}),
		"many files":       file(func(a *snippet.Artifact) {}, snippet.MaxArtifacts+1),
		"file's hash":      file(func(a *snippet.Artifact) { a.SHA256 = ptr(strings.Repeat("0", 64)) }, 1),
		"file without one": file(func(a *snippet.Artifact) { a.SHA256 = nil }, 1),
		"file's size":      file(func(a *snippet.Artifact) { a.Size++ }, 1),
		"file's encoding":  file(func(a *snippet.Artifact) { a.Encoding = "gzip" }, 1),
		"file's base64":    file(func(a *snippet.Artifact) { a.Encoding, a.Content = "base64", ptr("!!") }, 1),
		"file's path":      file(func(a *snippet.Artifact) { a.Path = "" }, 1),
		"path upwards":     file(func(a *snippet.Artifact) { a.Path = "a/../../b" }, 1),
		"path from root":   file(func(a *snippet.Artifact) { a.Path = "/etc/x" }, 1),
		"folder itself":    file(func(a *snippet.Artifact) { a.Path = "." }, 1),
		"escape in a path": file(func(a *snippet.Artifact) { a.Path = "a\x1b[2J" }, 1),
		"long path":        file(func(a *snippet.Artifact) { a.Path = strings.Repeat("x", maxPath+1) }, 1),
		"path twice":       file(func(a *snippet.Artifact) { a.Path = "f" }, 2),
		"line in a type":   file(func(a *snippet.Artifact) { a.MediaType = "text/plain\r\nX: y" }, 1),
		"file's type":      file(func(a *snippet.Artifact) { a.MediaType = runes(maxName + 1) }, 1),
		"there and not":    file(func(a *snippet.Artifact) { a.Omitted = "too large" }, 1),
		"not there":        file(func(a *snippet.Artifact) { a.Content = nil }, 1),
		"large files":      file(func(a *snippet.Artifact) { path := a.Path; *a = fileOf(strings.Repeat("x", 1<<20)); a.Path = path }, 4),
		"large reply":      file(func(a *snippet.Artifact) { a.Path = strings.Repeat("x", maxPayload) }, 1),
	} {
		t.Run(name, func(t *testing.T) {
			c := &cloud{script: []step{forged}}
			remote, _ := remoteTo(t, c)
			job := exampleJob()
			job.Request.Files = nil
			result, err := remote.Run(t.Context(), job)
			if err == nil || errors.Is(err, snippet.ErrUnavailable) || len(c.calls) != 1 {
				t.Errorf("believed after %d calls: %+v, error %v", len(c.calls), result, err)
			}
			if r := remote.Runtime(); r.Python != "" || len(r.Layers) > 0 {
				t.Errorf("its description is believed: %+v", r)
			}
			if len(err.Error()) > 2*maxLogError {
				t.Errorf("an error of %d bytes for the log", len(err.Error()))
			}
		})
	}
}

// A verdict tells of one end.
func TestAgreement(t *testing.T) {
	refusal := []snippet.Refusal{{Rule: snippet.ImportDenied, Target: "os"}}
	killed := func(r *snippet.Result) { r.ExitCode, r.Signal = nil, ptr("SIGKILL") }
	failed := func(r *snippet.Result) { r.ExitCode = ptr(1) }
	for name, test := range map[string]struct {
		reason snippet.Reason
		change func(*snippet.Result)
		agrees bool
	}{
		"success":                {snippet.Completed, func(*snippet.Result) {}, true},
		"success with code":      {snippet.Completed, func(r *snippet.Result) { r.ExitCode = ptr(9) }, false},
		"success without code":   {snippet.Completed, func(r *snippet.Result) { r.ExitCode = nil }, false},
		"success with error":     {snippet.Completed, func(r *snippet.Result) { r.Error = &snippet.Failure{Type: "X"} }, false},
		"success with signal":    {snippet.Completed, killed, false},
		"success after refusal":  {snippet.Completed, func(r *snippet.Result) { r.Blocked, r.BlockedCount = refusal, 7 }, true},
		"count of no refusal":    {snippet.Completed, func(r *snippet.Result) { r.BlockedCount = 7 }, false},
		"blocked":                {snippet.ImportDenied, func(r *snippet.Result) { failed(r); r.Blocked, r.BlockedCount = refusal, 1 }, true},
		"blocked by nothing":     {snippet.OperationDenied, failed, false},
		"blocked with success":   {snippet.ImportDenied, func(r *snippet.Result) { r.Blocked, r.BlockedCount = refusal, 1 }, false},
		"deadline":               {snippet.Deadline, killed, true},
		"deadline with code":     {snippet.Deadline, failed, false},
		"exception":              {snippet.Exception, func(r *snippet.Result) { failed(r); r.Error = &snippet.Failure{Type: "X"} }, true},
		"exception without one":  {snippet.Exception, failed, false},
		"exit status":            {snippet.ExitStatus, failed, true},
		"exit status 0":          {snippet.ExitStatus, func(*snippet.Result) {}, false},
		"memory, seen":           {snippet.MemoryLimit, failed, true},
		"memory, killed":         {snippet.MemoryLimit, killed, true},
		"disk with success":      {snippet.DiskLimit, func(*snippet.Result) {}, false},
		"signal":                 {snippet.Signal, killed, true},
		"signal without one":     {snippet.Signal, failed, false},
		"code and signal":        {snippet.Signal, func(r *snippet.Result) { r.Signal = ptr("SIGSEGV") }, false},
		"sandbox failure":        {snippet.SandboxFailure, func(r *snippet.Result) { r.ExitCode = nil }, true},
		"sandbox failure, ended": {snippet.SandboxFailure, failed, false},
		"caller left":            {snippet.Abandoned, killed, false},
	} {
		t.Run(name, func(t *testing.T) {
			job := exampleJob()
			r := *ordinary(job.ID).Result
			r.Reason, r.Outcome = test.reason, test.reason.Outcome()
			test.change(&r)
			if err := believe(r, job, job.Request.Timeout); (err == nil) != test.agrees {
				t.Errorf("%+v: %v", r, err)
			}
		})
	}
}

// file replies with n files that are not as they should be.
func file(change func(*snippet.Artifact), n int) step {
	return replies(func(r *reply) {
		for i := range n {
			a := fileOf("text")
			a.Path = fmt.Sprint("f", i)
			change(&a)
			r.Result.Files = append(r.Result.Files, a)
		}
	})
}

// What our sandbox may say at its most has to be believed.
func TestExtremeVerdict(t *testing.T) {
	extreme := replies(func(r *reply) {
		r.Diary, r.Fresh = strings.Repeat("x", maxDiary), true
		*r.Result = snippet.Result{
			ID: r.ID, Outcome: snippet.Error, Reason: snippet.Signal, Signal: ptr("SIGRTMIN+5"),
			Stdout: runes(4000), Stderr: runes(2000), StdoutBytes: 1 << 40, StdoutTruncated: true,
			Value: ptr(runes(snippet.MaxValue)), BlockedCount: 1 << 40, FilesOmitted: 10_000, Hint: runes(3000),
			Error: &snippet.Failure{Type: runes(maxName), Message: runes(2000), Traceback: runes(8000), Line: ptr(-5)},
			Files: []snippet.Artifact{fileOf(strings.Repeat("x", snippet.MaxArtifact)), {Path: "g", Size: 1 << 30, Encoding: "utf-8", Omitted: "too large"}},
		}
		for range snippet.MaxRefusals {
			r.Result.Blocked = append(r.Result.Blocked, snippet.Refusal{Rule: snippet.OperationDenied, Target: runes(maxName), File: runes(maxName)})
		}
	})
	remote, _ := remoteTo(t, &cloud{script: []step{extreme}})
	if _, err := remote.Run(t.Context(), exampleJob()); err != nil {
		t.Error(err)
	}
}
