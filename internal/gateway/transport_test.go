package gateway

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"cloche/internal/snippet"
)

func remoteAt(t *testing.T, url string) *Remote {
	t.Helper()
	r, err := openRemote(aws.Config{
		Region: "eu-central-1", Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""), BaseEndpoint: &url,
	}, transport(), RemoteOptions{Function: "runner", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A kept connection that is cut after a job was sent on it is the one case in
// which an HTTP client likes to try again by itself.
func TestNoHiddenRepeat(t *testing.T) {
	var calls atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.ProtoMajor != 1 {
			t.Errorf("protocol %s", r.Proto)
		}
		if calls.Add(1) == 2 {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				_ = conn.Close()
			}
			return
		}
		body, _ := encode(ordinary(exampleJob().ID))
		_, _ = w.Write(body)
	}))
	defer server.Close()
	remote := remoteAt(t, server.URL)
	if _, err := remote.Run(t.Context(), exampleJob()); err != nil {
		t.Fatal(err)
	}
	if _, err := remote.Run(t.Context(), exampleJob()); err == nil || errors.Is(err, snippet.ErrUnavailable) || calls.Load() != 2 {
		t.Errorf("%d calls, error %v", calls.Load(), err)
	}
	if _, err := remote.Run(t.Context(), exampleJob()); err != nil || calls.Load() != 3 {
		t.Errorf("afterwards: %d calls, error %v", calls.Load(), err)
	}
}

func TestNobodyListens(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = listener.Close()
	if _, err := remoteAt(t, "http://"+listener.Addr().String()).Run(t.Context(), exampleJob()); !errors.Is(err, snippet.ErrUnavailable) {
		t.Errorf("error %v", err)
	}
}
