//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Bounds on what a server may do to its caller.
const (
	answerBytes = 64 << 20        // far more than the largest verdict
	callTime    = 6 * time.Minute // the longest wait for a slot, and the longest run
)

const remoteUsage = "`URL` of a server to ask instead, such as http://127.0.0.1:8080"

// remote is a Cloche server, asked over HTTP.
type remote struct {
	base   string
	client *http.Client
}

func newRemote(text string) (*remote, error) {
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, usageError{fmt.Errorf("--remote %.120q: is not the address of a server; write it like http://127.0.0.1:8080", text)}
	}
	return &remote{base: strings.TrimSuffix(u.String(), "/"), client: &http.Client{
		Timeout:       callTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// onlyHere refuses flags that a server has decided for itself.
func onlyHere(cmd *cobra.Command, shared ...string) error {
	var faults []error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Name != "remote" && !slices.Contains(shared, f.Name) {
			faults = append(faults, usageError{fmt.Errorf("--%s is for runs here; leave it or --remote out", f.Name)})
		}
	})
	return errors.Join(faults...)
}

// call sends body, if there is one, as JSON and reads a good answer into answer.
func (r *remote) call(ctx context.Context, method, path string, body, answer any) error {
	request, err := r.request(ctx, method, path, body)
	if err != nil {
		return fmt.Errorf("make the request: %w", err)
	}
	response, err := r.client.Do(request)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("ask the server: %w; is a server running there? start one with `cloche serve`", err)
	}
	if err != nil {
		return fmt.Errorf("ask the server: %w", err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, answerBytes))
	switch {
	case err != nil:
		return fmt.Errorf("read the server's answer: %w", err)
	case response.StatusCode != http.StatusOK:
		return refusal(response, text)
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return fmt.Errorf("%s does not answer like a Cloche server: %w", r.base, err)
	}
	return nil
}

func (r *remote) request(ctx context.Context, method, path string, body any) (*http.Request, error) {
	var text []byte
	var err error
	if body != nil {
		if text, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, r.base+path, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	return request, nil
}

// refusedError is a server's refusal, in its own words where it has some.
type refusedError struct {
	status int
	text   string
}

func (e *refusedError) Error() string { return e.text }

func refusal(r *http.Response, text []byte) error {
	var problem struct{ Detail string }
	_ = json.Unmarshal(text, &problem) // any other answer has no detail
	e := &refusedError{r.StatusCode, fmt.Sprintf("the server answered with status %d", r.StatusCode)}
	if problem.Detail != "" {
		e.text += ": " + printable(problem.Detail)
	}
	if r.StatusCode == http.StatusNotFound {
		e.text += " (give --remote only scheme, host and port, unless the API lies below a path)"
	}
	if seconds, err := strconv.Atoi(r.Header.Get("Retry-After")); err == nil {
		e.text += fmt.Sprintf(" (in %d s)", seconds)
	}
	return e
}
