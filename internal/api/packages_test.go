package api

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cloche/internal/service"
	"cloche/internal/snippet"
)

func TestPackages(t *testing.T) {
	numpy := snippet.Package{Module: "numpy", Distribution: "numpy", Version: "2.4.6", Preloaded: true}
	client := snippet.Package{Module: "requests", Distribution: "requests", Version: "2.32.0"}
	found := snippet.Packages{List: []snippet.Package{numpy, client}, Omitted: 3}
	want := Packages{
		Python: "3.12.1", Omitted: 3,
		Packages: []Installed{{Package: numpy, Allowed: true}, {Package: client, Allowed: false}},
	}
	for name, change := range map[string]func(*Config){
		"looked for": func(c *Config) {
			c.Packages = func(context.Context) (snippet.Packages, error) { return found, nil }
		},
		"reported": func(c *Config) {
			c.Runtime = func() snippet.Runtime { return snippet.Runtime{Python: "3.12.1", Packages: found} }
		},
	} {
		b := serve(t, func(_ *service.Config, c *Config) { change(c) })
		r := b.do(t, http.MethodGet, "/packages", "")
		var got Packages
		if err := json.Unmarshal(r.body, &got); err != nil || r.status != http.StatusOK {
			t.Fatalf("%s: status %d, %v: %s", name, r.status, err, r.body)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// Nothing known is an empty list, and nobody there to look is no fault of the caller's.
func TestNoPackages(t *testing.T) {
	r := serve(t, nil).do(t, http.MethodGet, "/packages", "")
	if want := `{"python":"3.12.1","packages":[],"omitted":0}`; string(r.body) != want {
		t.Errorf("answer %s", r.body)
	}
	b := serve(t, func(_ *service.Config, c *Config) {
		c.Packages = func(context.Context) (snippet.Packages, error) { return snippet.Packages{}, snippet.ErrUnavailable }
	})
	if r := b.do(t, http.MethodGet, "/packages", ""); r.status != http.StatusServiceUnavailable || r.header.Get("Retry-After") == "" {
		t.Errorf("without a sandbox: status %d, %v", r.status, r.header)
	}
}
