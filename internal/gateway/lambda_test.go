package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"cloche/internal/snippet"
)

// cloud is a transport that plays Lambda by a script; its last step goes on for
// ever. It is an http.RoundTripper.
type cloud struct {
	mu     sync.Mutex
	script []step
	calls  []call
}

// call is one Invoke as it went over the wire.
type call struct {
	path, tenant string
	order        order
}

type step func(r *http.Request, o order) (*http.Response, error)

func (c *cloud) RoundTrip(r *http.Request) (*http.Response, error) {
	var o order
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &o)
	}
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.calls = append(c.calls, call{r.URL.Path, r.Header.Get("X-Amz-Tenant-Id"), o})
	next := c.script[0]
	if len(c.script) > 1 {
		c.script = c.script[1:]
	}
	c.mu.Unlock()
	return next(r, o)
}

func httpAnswer(r *http.Request, status int, header map[string]string, body io.Reader) *http.Response {
	h := http.Header{"Content-Type": {"application/json"}}
	for name, value := range header {
		h.Set(name, value)
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(body), Request: r}
}

// fault is an error of Lambda itself.
func fault(status int, name string) step {
	return func(r *http.Request, _ order) (*http.Response, error) {
		return httpAnswer(r, status, map[string]string{"X-Amzn-Errortype": name}, strings.NewReader(`{"Message": "no"}`)), nil
	}
}

// functionError is an answer for a function that failed.
func functionError(payload string) step {
	return func(r *http.Request, _ order) (*http.Response, error) {
		return httpAnswer(r, 200, map[string]string{"X-Amz-Function-Error": "Unhandled"}, strings.NewReader(payload)), nil
	}
}

// broken is a connection that fails in an operation.
func broken(op string) step {
	return func(*http.Request, order) (*http.Response, error) {
		return nil, &net.OpError{Op: op, Net: "tcp", Err: io.ErrUnexpectedEOF}
	}
}

// replies is a function's answer, made from the reply to an ordinary run.
func replies(change func(*reply)) step {
	return func(r *http.Request, o order) (*http.Response, error) {
		answer := ordinary(o.ID)
		change(&answer)
		body, err := encode(answer)
		return httpAnswer(r, 200, nil, bytes.NewReader(body)), err
	}
}

// says is a function's answer as text; %s is for the job's id.
func says(format string) step {
	return func(r *http.Request, o order) (*http.Response, error) {
		return httpAnswer(r, 200, nil, strings.NewReader(strings.ReplaceAll(format, "%s", o.ID))), nil
	}
}

func same(*reply) {}

func ordinary(id string) reply {
	code := 0
	return reply{
		ID: id,
		Result: &snippet.Result{
			ID: id, Outcome: snippet.OK, Reason: snippet.Completed, Stdout: "42\n", StdoutBytes: 3, ExitCode: &code,
		},
		Runtime: snippet.Runtime{Python: "3.13.5", Layers: []snippet.Layer{{Name: "seccomp", Detail: "refused", Means: "no processes"}}},
	}
}

// remoteTo is a Remote that talks to the cloud, and a way to read its log.
func remoteTo(t *testing.T, c *cloud) (*Remote, *bytes.Buffer) {
	t.Helper()
	log := &bytes.Buffer{}
	r, err := openRemote(aws.Config{
		Region: "eu-central-1", Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""),
	}, &http.Client{Transport: c}, RemoteOptions{Function: "runner", Isolated: true, Log: slog.New(slog.NewJSONHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	return r, log
}

func exampleJob() snippet.Job {
	return snippet.Job{
		ID: "01JJJJJJJJJJJJJJJJJJJJJJJJ", Tenant: "acme", Limits: snippet.DefaultLimits(), Policy: snippet.DefaultPolicy(),
		Request: snippet.Request{
			Code: "print(6 * 7)\n", Timeout: snippet.DefaultTimeout, Stdin: "é\x00",
			Files: []snippet.File{{Path: "a/b", Content: []byte{0xFF, 0}}},
		},
	}
}

func ptr[T any](v T) *T { return &v }

func runes(n int) string { return strings.Repeat("é", n) }

func fileOf(content string) snippet.Artifact {
	a := snippet.Artifact{Path: "f", Size: int64(len(content)), MediaType: "text/plain", Encoding: "utf-8", Content: &content}
	a.SHA256 = ptr(fmt.Sprintf("%x", sha(content)))
	return a
}
