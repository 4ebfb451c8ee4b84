//go:build linux

package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"cloche/internal/metrics"
	"cloche/internal/service"
	"cloche/internal/snippet"
)

// The body of POST /execute. A nil list of files is null there, which is allowed.
type (
	executeBody struct {
		Code      string     `json:"code"`
		TimeoutMS int64      `json:"timeout_ms"`
		Stdin     string     `json:"stdin"`
		Files     []fileBody `json:"files"`
	}
	fileBody struct {
		Path     string `json:"path"`
		Content  []byte `json:"content"` // written as base64
		Encoding string `json:"encoding"`
	}
)

func bodyOf(request snippet.Request) executeBody {
	body := executeBody{Code: request.Code, TimeoutMS: request.Timeout.Milliseconds(), Stdin: request.Stdin}
	for _, f := range request.Files {
		body.Files = append(body.Files, fileBody{f.Path, append([]byte{}, f.Content...), "base64"})
	}
	return body
}

// Run has the server run the request.
func (r *remote) Run(ctx context.Context, request snippet.Request) (snippet.Result, error) {
	var result snippet.Result
	if err := r.call(ctx, http.MethodPost, "/execute", bodyOf(request), &result); err != nil {
		return result, err
	}
	if !slices.Contains(snippet.Outcomes(), result.Outcome) {
		return result, fmt.Errorf("%s answered without a verdict", r.base)
	}
	return result, nil
}

// Demo has the server run its demo set.
func (r *remote) Demo(ctx context.Context) (report service.DemoReport, err error) {
	if err := r.call(ctx, http.MethodPost, "/demo", nil, &report); err != nil {
		return report, err
	}
	if len(report.Cases) == 0 {
		return report, fmt.Errorf("%s answered without a case", r.base)
	}
	return report, nil
}

// Events lists what the server has recorded.
func (r *remote) Events(ctx context.Context, f metrics.Filter) (page metrics.Page, err error) {
	query := url.Values{}
	for name, value := range map[string]string{"outcome": string(f.Outcome), "cursor": f.Cursor, "limit": strconv.Itoa(f.Limit)} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if !f.Since.IsZero() {
		query.Set("since", f.Since.UTC().Format(time.RFC3339Nano))
	}
	if err := r.call(ctx, http.MethodGet, "/events?"+query.Encode(), nil, &page); err != nil {
		return page, err
	}
	for _, e := range page.Events {
		if err := e.Validate(); err != nil {
			return page, fmt.Errorf("%s answered with an event that this version does not know: %w", r.base, err)
		}
	}
	return page, nil
}
