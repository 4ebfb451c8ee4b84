package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloche/internal/api"
	"cloche/internal/metrics"
	"cloche/internal/metrics/metricstest"
	"cloche/internal/service"
	"cloche/internal/snippet"
)

func sha(s string) [32]byte { return sha256.Sum256([]byte(s)) }

func TestRemote(t *testing.T) {
	c := &cloud{script: []step{replies(same)}}
	remote, _ := remoteTo(t, c)
	job := exampleJob()
	if got := remote.Runtime(); got.Python != "" || got.Layers == nil {
		t.Errorf("runtime before the first run: %+v", got)
	}
	result, err := remote.Run(t.Context(), job)
	if err != nil || result.Stdout != "42\n" || remote.Runtime().Python != "3.13.5" {
		t.Fatalf("result %+v, error %v", result, err)
	}
	got := c.calls[0]
	if got.path != "/2015-03-31/functions/runner/invocations" || got.tenant != "acme" {
		t.Errorf("call %+v", got)
	}
	payload, err := encodeOrder(job)
	if err != nil {
		t.Fatal(err)
	}
	back, err := decodeOrder(payload)
	job.Tenant = "" // stays behind
	if d := cmp.Diff(job, back); d != "" || err != nil {
		t.Errorf("job on the other side (-want +got):\n%s%v", d, err)
	}
	remote.options.Isolated = false
	if _, err := remote.Run(t.Context(), job); err != nil || c.calls[1].tenant != "" {
		t.Errorf("a shared runner was told of tenant %q: %v", c.calls[1].tenant, err)
	}
}

// How often a run is recorded, if it may have been one or surely was none.
const (
	once  = 1
	never = 0
)

func TestEveryWayToFail(t *testing.T) {
	const unavailable, failed = http.StatusServiceUnavailable, http.StatusOK
	for name, test := range map[string]struct {
		script []step
		calls  int // -1: several
		status int
		reason snippet.Reason
	}{
		"answer":               {[]step{replies(same)}, 1, 200, snippet.Completed},
		"lost answer":          {[]step{broken("read")}, 1, failed, snippet.SandboxFailure},
		"cut while writing":    {[]step{broken("write")}, 1, failed, snippet.SandboxFailure},
		"half an answer":       {[]step{half}, 1, failed, snippet.SandboxFailure},
		"fault of the service": {[]step{fault(500, "ServiceException")}, 1, failed, snippet.SandboxFailure},
		"unknown fault":        {[]step{fault(503, "SomethingNewException")}, 1, failed, snippet.SandboxFailure},
		"fault without a name": {[]step{fault(502, "")}, 1, failed, snippet.SandboxFailure},
		"function failed":      {[]step{functionError(`{"errorType":"Runtime.ExitError","errorMessage":"exit status 1"}`)}, 1, failed, snippet.SandboxFailure},
		"function too slow":    {[]step{functionError(`{"errorMessage":"Task timed out after 25.00 seconds"}`)}, 1, failed, snippet.SandboxFailure},
		"no answer":            {[]step{silent}, 1, failed, snippet.SandboxFailure},
		"endless answer":       {[]step{endless}, 1, failed, snippet.SandboxFailure},
		"wrong id":             {[]step{replies(func(r *reply) { r.ID = "other" })}, 1, failed, snippet.SandboxFailure},
		"refusal":              {[]step{replies(func(r *reply) { r.Result, r.Refusal = nil, "another tenant" })}, 1, failed, snippet.SandboxFailure},
		"throttled once":       {[]step{fault(429, "TooManyRequestsException"), replies(same)}, 2, 200, snippet.Completed},
		"no connection once":   {[]step{broken("dial"), replies(same)}, 2, 200, snippet.Completed},
		"network not ready":    {[]step{fault(502, "ENINotReadyException"), fault(502, "ResourceNotReadyException"), replies(same)}, 3, 200, snippet.Completed},
		"image not ready":      {[]step{fault(409, "CodeArtifactUserPendingException"), replies(same)}, 2, 200, snippet.Completed},
		"lost after throttled": {[]step{fault(429, "TooManyRequestsException"), broken("read")}, 2, failed, snippet.SandboxFailure},
		"throttled for long":   {[]step{fault(429, "TooManyRequestsException")}, -1, unavailable, ""},
		"never a connection":   {[]step{broken("dial")}, -1, unavailable, ""},
		"inactive function":    {[]step{fault(409, "ResourceConflictException")}, 1, unavailable, ""},
		"no such function":     {[]step{fault(404, "ResourceNotFoundException")}, 1, unavailable, ""},
		"not permitted":        {[]step{fault(403, "AccessDeniedException")}, 1, unavailable, ""},
		"no address left":      {[]step{fault(502, "SubnetIPAddressLimitReachedException")}, 1, unavailable, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &cloud{script: test.script}
				remote, log := remoteTo(t, c)
				var events recorded
				answer := execute(t, remote, &events, exampleJob().Request)
				if answer.StatusCode != test.status || (len(c.calls) != test.calls && test.calls >= 0) || (test.calls < 0 && len(c.calls) < 3) {
					t.Errorf("status %d after %d calls, want %d after %d: %s\n%s", answer.StatusCode, len(c.calls), test.status, test.calls, answer.Body, log)
				}
				if test.reason == "" {
					isProblem(t, answer, test.status)
					if len(events) != never || answer.MultiValueHeaders.Get("Retry-After") == "" {
						t.Errorf("events %+v, headers %v", events, answer.MultiValueHeaders)
					}
					return
				}
				var result snippet.Result
				if err := json.Unmarshal([]byte(answer.Body), &result); err != nil || result.Reason != test.reason {
					t.Errorf("result %+v, error %v", result, err)
				}
				if len(events) != once || events[0].Reason != test.reason {
					t.Errorf("events %+v", events)
				}
			})
		})
	}
}

// recorded keeps events.
type recorded []metrics.Event

func (r *recorded) Record(_ context.Context, e metrics.Event) error {
	*r = append(*r, e)
	return nil
}

// execute sends a request through everything that the execute function has.
func execute(t *testing.T, runner Box, events *recorded, req snippet.Request) response {
	t.Helper()
	s := service.New(service.Config{Runner: runner, Recorder: events, Reserve: 4 * time.Second})
	handler, err := api.New(api.Config{Service: s, Reader: &metricstest.Memory{}, Runtime: runner.Runtime, AllowedHosts: []string{"*"}})
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(map[string]any{"code": req.Code, "timeout_ms": req.Timeout.Milliseconds()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 28*time.Second)
	defer cancel()
	out, err := New(handler, slog.New(slog.DiscardHandler)).Invoke(ctx, event(t, map[string]any{"body": string(body)}))
	if err != nil {
		t.Fatal(err)
	}
	var r response
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// silent never answers; whoever waits has to give up.
func silent(r *http.Request, _ order) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// half is an answer whose connection is cut in the middle.
func half(r *http.Request, _ order) (*http.Response, error) {
	return httpAnswer(r, 200, nil, io.MultiReader(strings.NewReader(`{"id":`), failing{})), nil
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func endless(r *http.Request, _ order) (*http.Response, error) {
	return httpAnswer(r, 200, nil, spaces{}), nil
}

type spaces struct{}

func (spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// A repeat must not begin when there is no more time for a whole run.
func TestNoTimeForARepeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cloud{script: []step{fault(429, "TooManyRequestsException")}}
		remote, _ := remoteTo(t, c)
		ctx, cancel := context.WithTimeout(t.Context(), snippet.DefaultTimeout+overhead)
		defer cancel()
		if _, err := remote.Run(ctx, exampleJob()); !errors.Is(err, snippet.ErrUnavailable) || len(c.calls) != 1 {
			t.Errorf("%d calls, error %v", len(c.calls), err)
		}
	})
}

func TestCallerOfRemoteLeft(t *testing.T) {
	c := &cloud{script: []step{replies(same)}}
	remote, _ := remoteTo(t, c)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := remote.Run(ctx, exampleJob()); !errors.Is(err, context.Canceled) || len(c.calls) != 0 {
		t.Errorf("%d calls, error %v", len(c.calls), err)
	}
}

func TestJobTooLarge(t *testing.T) {
	c := &cloud{script: []step{replies(same)}}
	remote, _ := remoteTo(t, c)
	job := exampleJob()
	job.Policy.Rules = []snippet.Rule{{Module: "m", Reason: strings.Repeat("x", maxPayload)}}
	var fields snippet.FieldErrors
	if _, err := remote.Run(t.Context(), job); !errors.As(err, &fields) || fields[0].Field != "files" || len(c.calls) != 0 {
		t.Errorf("%d calls, error %.200v", len(c.calls), err)
	}
}

// The largest request that is valid has to fit, however it is written.
func TestLargestJobFits(t *testing.T) {
	job := exampleJob()
	job.Request.Code = strings.Repeat("\x01", snippet.MaxCode)
	job.Request.Stdin = strings.Repeat("\x01", snippet.MaxStdin)
	job.Request.Files = nil
	for i := range snippet.MaxFiles {
		part := strings.Repeat(`"`, snippet.MaxPathPart)
		path := fmt.Sprint(i) + strings.Repeat("/"+part, snippet.MaxPathDepth-1)
		job.Request.Files = append(job.Request.Files, snippet.File{Path: path, Content: make([]byte, snippet.MaxFilesBytes/snippet.MaxFiles)})
	}
	if err := snippet.Validate(job.Request); err != nil {
		t.Fatal(err)
	}
	if _, err := encodeOrder(job); err != nil {
		t.Error(err)
	}
}

// Whatever the runner says of a job that it was sent, the run is counted.
func TestFilesThatTheRunnerCannotTake(t *testing.T) {
	refusal := replies(func(r *reply) { r.Result, r.Fields = nil, snippet.FieldErrors{{Field: "code", Problem: "<script>"}} })
	remote, log := remoteTo(t, &cloud{script: []step{refusal}})
	var events recorded
	s := service.New(service.Config{Runner: remote, Recorder: &events})
	result, err := s.Execute(t.Context(), exampleJob().Request, service.Caller{})
	if err != nil || result.Reason != snippet.SandboxFailure || strings.Contains(result.Hint, "script") || !strings.Contains(result.Hint, "files") {
		t.Errorf("result %+v, error %v", result, err)
	}
	if len(events) != once || events[0].ID != result.ID || !strings.Contains(log.String(), `"ran":false`) || remote.Runtime().Python != "" {
		t.Errorf("events %+v, runtime %+v, log %s", events, remote.Runtime(), log)
	}
}

func TestDiaryReachesTheLog(t *testing.T) {
	remote, log := remoteTo(t, &cloud{script: []step{replies(func(r *reply) {
		r.Fresh, r.Diary = true, "a\n{\"_aws\":{}}\n"
	})}})
	if _, err := remote.Run(t.Context(), exampleJob()); err != nil {
		t.Fatal(err)
	}
	var line map[string]any
	if err := json.Unmarshal(log.Bytes(), &line); err != nil || line["fresh"] != true || line["diary"] != "a\n{\"_aws\":{}}\n" || line["_aws"] != nil {
		t.Errorf("log %s: %v", log, err)
	}
}
