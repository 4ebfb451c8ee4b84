package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"cloche/internal/snippet"
)

// box is a sandbox that does what it is told.
type box struct {
	run  func(snippet.Job) (snippet.Result, error)
	jobs []snippet.Job
}

func (b *box) Run(_ context.Context, job snippet.Job) (snippet.Result, error) {
	b.jobs = append(b.jobs, job)
	if b.run != nil {
		return b.run(job)
	}
	return *ordinary(job.ID).Result, nil
}

func (b *box) Runtime() snippet.Runtime { return ordinary("").Runtime }

// hosted is a Host in the Lambda library's hands.
type hosted struct {
	*Host
	handler lambda.Handler
	left    int // how often it ended the process
}

func hostOfBox(b *box) *hosted {
	h := &hosted{Host: &Host{Box: b, Diary: NewDiary(io.Discard)}}
	h.leave = func() { h.left++ }
	h.handler = lambda.NewHandler(h.handle)
	return h
}

// ask invokes the host as Lambda does for a tenant.
func (h *hosted) ask(t *testing.T, tenant string, payload []byte) reply {
	t.Helper()
	ctx := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{TenantID: tenant})
	body, err := h.handler.Invoke(ctx, payload)
	if err != nil {
		t.Fatalf("an error for Lambda: %v", err)
	}
	var r reply
	if err := json.Unmarshal(body, &r); err != nil {
		t.Fatalf("%v: %.200s", err, body)
	}
	return r
}

func examplePayload(t *testing.T) []byte {
	t.Helper()
	payload, err := encodeOrder(exampleJob())
	if err != nil {
		t.Fatal(err)
	}
	return payload
}

func TestHost(t *testing.T) {
	b := &box{}
	h := hostOfBox(b)
	for i := range 2 {
		r := h.ask(t, "acme", examplePayload(t))
		if r.Result == nil || r.Result.Stdout != "42\n" || r.ID != exampleJob().ID || r.Fresh != (i == 0) || r.Runtime.Python == "" {
			t.Errorf("reply %+v", r)
		}
	}
	if len(b.jobs) != 2 || b.jobs[0].Request.Files[0].Path != "a/b" || h.left != 0 {
		t.Errorf("jobs %+v, left %d times", b.jobs, h.left)
	}
}

func TestHostServesOneTenant(t *testing.T) {
	for name, tenants := range map[string][2]string{
		"other": {"acme", "other"}, "none": {"acme", ""}, "one after none": {"", "acme"},
	} {
		t.Run(name, func(t *testing.T) {
			b := &box{}
			h := hostOfBox(b)
			h.ask(t, tenants[0], examplePayload(t))
			for range 2 {
				if r := h.ask(t, tenants[1], examplePayload(t)); r.Result != nil || r.Refusal != errTenant.Error() {
					t.Errorf("reply %+v", r)
				}
			}
			if len(b.jobs) != 1 || h.left != 2 {
				t.Errorf("%d jobs ran, left %d times", len(b.jobs), h.left)
			}
		})
	}
}

func TestHostLeavesAfterAnomaly(t *testing.T) {
	for name, test := range map[string]struct {
		run   func(snippet.Job) (snippet.Result, error)
		left  int
		check func(reply) bool
	}{
		"sandbox failure": {func(j snippet.Job) (snippet.Result, error) {
			return snippet.Result{ID: j.ID, Outcome: snippet.Error, Reason: snippet.SandboxFailure}, nil
		}, 1, func(r reply) bool { return r.Result != nil }},
		"abandoned": {func(j snippet.Job) (snippet.Result, error) {
			return snippet.Result{ID: j.ID, Outcome: snippet.Error, Reason: snippet.Abandoned}, nil
		}, 1, func(r reply) bool { return r.Result != nil }},
		"no child": {func(snippet.Job) (snippet.Result, error) {
			return snippet.Result{}, snippet.ErrUnavailable
		}, 1, func(r reply) bool { return r.Refusal == snippet.ErrUnavailable.Error() }},
		"panic": {func(snippet.Job) (snippet.Result, error) {
			panic("bug")
		}, 1, func(r reply) bool { return r.Refusal == "panic" && strings.Contains(r.Diary, "bug") }},
		"no verdict": {func(snippet.Job) (snippet.Result, error) {
			return snippet.Result{}, nil
		}, 1, func(r reply) bool { return r.Result == nil && r.Refusal != "" }},
		"files": {func(snippet.Job) (snippet.Result, error) {
			return snippet.Result{}, snippet.FieldErrors{{Field: "files", Problem: "no"}}
		}, 0, func(r reply) bool { return r.Result == nil && r.Fields[0].Field == "files" }},
		"large files": {func(j snippet.Job) (snippet.Result, error) {
			r := *ordinary(j.ID).Result
			r.Files = []snippet.Artifact{fileOf(strings.Repeat(`"`, snippet.MaxArtifact))}
			return r, nil
		}, 0, func(r reply) bool { return r.Result != nil && r.Result.Files[0].Omitted != "" }},
	} {
		t.Run(name, func(t *testing.T) {
			h := hostOfBox(&box{run: test.run})
			r := h.ask(t, "acme", examplePayload(t))
			if r.ID != exampleJob().ID || !test.check(r) || h.left != test.left {
				t.Errorf("left %d times after %+v", h.left, r)
			}
		})
	}
}

func TestHostWithoutBox(t *testing.T) {
	h := hostOfBox(nil)
	h.Box, h.Fault = nil, errors.New("no Python")
	r := h.ask(t, "acme", examplePayload(t))
	if r.Result != nil || !strings.Contains(r.Refusal, "no Python") || h.left != 1 {
		t.Errorf("left %d times after %+v", h.left, r)
	}
}

func TestHostRefusesWhatIsNoJob(t *testing.T) {
	b := &box{}
	h := hostOfBox(b)
	for name, change := range map[string]func(map[string]any){
		"nothing":       func(m map[string]any) { clear(m) },
		"unknown key":   func(m map[string]any) { m["tenant"] = "acme" },
		"no id":         func(m map[string]any) { m["id"] = "" },
		"no timeout":    func(m map[string]any) { m["timeout_ms"] = 0 },
		"long timeout":  func(m map[string]any) { m["timeout_ms"] = 1 << 40 },
		"no code":       func(m map[string]any) { m["code"] = "" },
		"path upwards":  func(m map[string]any) { m["files"] = []any{map[string]any{"path": "../a", "content": ""}} },
		"no limits":     func(m map[string]any) { m["limits"] = map[string]any{} },
		"code as array": func(m map[string]any) { m["code"] = []int{1} },
	} {
		var o map[string]any
		if err := json.Unmarshal(examplePayload(t), &o); err != nil {
			t.Fatal(err)
		}
		change(o)
		payload, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		if r := h.ask(t, "acme", payload); r.Result != nil || r.Refusal == "" {
			t.Errorf("%s: reply %+v", name, r)
		}
	}
	if len(b.jobs) != 0 {
		t.Errorf("ran %+v", b.jobs)
	}
}

// What a runner logs has no other way out.
func TestDiary(t *testing.T) {
	var out bytes.Buffer
	b := &box{}
	h := hostOfBox(b)
	h.Diary = NewDiary(&out)
	log := slog.New(slog.NewJSONHandler(h.Diary, nil))
	b.run = func(j snippet.Job) (snippet.Result, error) {
		for range 1000 {
			log.Error("made a child", "n", 1)
		}
		log.Error("the last line")
		return *ordinary(j.ID).Result, nil
	}
	r := h.ask(t, "acme", examplePayload(t))
	if len(r.Diary) != maxDiary || !strings.Contains(r.Diary, "the last line") || strings.Count(out.String(), "\n") != 1001 {
		t.Errorf("diary of %d bytes", len(r.Diary))
	}
	b.run = nil
	if r := h.ask(t, "acme", examplePayload(t)); r.Diary != "" {
		t.Errorf("again: %q", r.Diary)
	}
}

// Both sides together: what the host sends is what Remote believes.
func TestHostAndRemote(t *testing.T) {
	h := hostOfBox(&box{})
	c := &cloud{script: []step{func(r *http.Request, o order) (*http.Response, error) {
		payload, err := encode(o)
		if err != nil {
			return nil, err
		}
		return httpAnswer(r, 200, nil, bytes.NewReader(mustInvoke(h, t, payload))), nil
	}}}
	remote, _ := remoteTo(t, c)
	result, err := remote.Run(t.Context(), exampleJob())
	if err != nil || result.Stdout != "42\n" {
		t.Errorf("result %+v, error %v", result, err)
	}
}

func mustInvoke(h *hosted, t *testing.T, payload []byte) []byte {
	t.Helper()
	body, err := h.handler.Invoke(t.Context(), payload)
	if err != nil {
		t.Fatal(err)
	}
	return body
}
