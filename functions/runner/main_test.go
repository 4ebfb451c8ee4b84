package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"cloche/internal/guard"
	"cloche/internal/snippet"
)

// asRunner makes the test binary be the function.
const asRunner = "CLOCHE_TEST_RUNNER"

func TestMain(m *testing.M) {
	guard.Main()
	if os.Getenv(asRunner) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// lambda plays the runtime interface of one environment.
type lambda struct {
	*httptest.Server
	next    chan invocation
	replies chan []byte
}

type invocation struct {
	tenant  string
	payload []byte
}

func newLambda(t *testing.T) *lambda {
	t.Helper()
	l := &lambda{next: make(chan invocation), replies: make(chan []byte, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /2018-06-01/runtime/invocation/next", func(w http.ResponseWriter, r *http.Request) {
		select {
		case i := <-l.next:
			w.Header().Set("Lambda-Runtime-Aws-Request-Id", "one")
			w.Header().Set("Lambda-Runtime-Aws-Tenant-Id", i.tenant)
			w.Header().Set("Lambda-Runtime-Deadline-Ms", fmt.Sprint(time.Now().Add(25*time.Second).UnixMilli()))
			_, _ = w.Write(i.payload)
		case <-r.Context().Done():
		}
	})
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/one/", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.WriteHeader(http.StatusAccepted)
		l.replies <- body
	})
	l.Server = httptest.NewServer(mux)
	t.Cleanup(l.Close)
	return l
}

// answer is the part of a reply that the tests look at.
type answer struct {
	ID      string          `json:"id"`
	Result  *snippet.Result `json:"result"`
	Refusal string          `json:"refusal"`
	Runtime snippet.Runtime `json:"runtime"`
	Fresh   bool            `json:"fresh"`
}

func (l *lambda) invoke(t *testing.T, tenant, code string) (a answer) {
	t.Helper()
	payload, err := json.Marshal(map[string]any{
		"id": "job", "code": []byte(code), "timeout_ms": 5000, "limits": snippet.DefaultLimits(), "policy": snippet.DefaultPolicy(),
	})
	if err != nil {
		t.Fatal(err)
	}
	late := time.After(30 * time.Second)
	select {
	case l.next <- invocation{tenant, payload}:
	case <-late:
		t.Fatal("the function asks for nothing")
	}
	select {
	case body := <-l.replies:
		if err := json.Unmarshal(body, &a); err != nil {
			t.Fatalf("%v: %s", err, body)
		}
	case <-late:
		t.Fatal("the function does not answer")
	}
	return a
}

// start runs the function as Lambda does, credentials in its environment.
func start(t *testing.T, l *lambda) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = []string{
		"AWS_LAMBDA_RUNTIME_API=" + strings.TrimPrefix(l.URL, "http://"), asRunner + "=1", "PATH=" + os.Getenv("PATH"),
		"AWS_ACCESS_KEY_ID=canary", "AWS_SECRET_ACCESS_KEY=canary", "AWS_SESSION_TOKEN=canary", "_HANDLER=canary",
	}
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd, &log
}

func TestRunner(t *testing.T) {
	// Without the filter a sole user's sandbox ends every process of its user.
	if kernel, err := guard.ProbeKernel(0, 0); err != nil || !kernel.Has(guard.FeatureSeccomp) {
		t.Skipf("only with seccomp: %v", err)
	}
	l := newLambda(t)
	cmd, log := start(t, l)
	a := l.invoke(t, "acme", "print(6 * 7)")
	if a.ID != "job" || a.Result == nil || a.Result.Stdout != "42\n" || !a.Fresh || len(a.Runtime.Layers) == 0 {
		t.Fatalf("reply %+v\n%s", a, log)
	}
	environment, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", cmd.Process.Pid))
	if err != nil || bytes.Contains(environment, []byte("canary")) {
		t.Errorf("environment %q: %v", environment, err)
	}
	if a := l.invoke(t, "acme", "import os"); a.Result == nil || a.Result.Reason != snippet.ImportDenied || a.Fresh {
		t.Errorf("second reply %+v", a)
	}
	if a := l.invoke(t, "other", "1"); a.Result != nil || a.Refusal == "" {
		t.Errorf("reply to another tenant %+v", a)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("end after that: %v\n%s", err, log)
	}
}

// A runner that cannot work has to say why: it may have no log.
func TestRunnerWithoutPython(t *testing.T) {
	t.Setenv("CLOCHE_PYTHON", "/nowhere/python3")
	h := host(nil, nil)
	if h.Box != nil || h.Fault == nil {
		t.Errorf("host %+v", h)
	}
	t.Setenv("CLOCHE_SHARDS", "many")
	if h := host(nil, nil); h.Fault == nil || !strings.Contains(h.Fault.Error(), "CLOCHE_SHARDS") {
		t.Errorf("host %+v", h)
	}
}
