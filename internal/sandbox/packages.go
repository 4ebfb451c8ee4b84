package sandbox

import (
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"cloche/internal/snippet"
)

// AutoPreload in place of names means the usual packages, as far as they load.
const AutoPreload = "auto"

// usualPackages are what AutoPreload loads. Every child pays for every one, with
// page tables that are copied and freed: at full load, where a print costs 4.5 ms
// of CPU in all, numpy adds 0.7 and pandas another 0.9, and the server's first
// answer, there after 0.24 s, comes 0.05 and another 0.15 s later. numpy alone is
// worth that to those who did not ask.
var usualPackages = []string{"numpy"}

// packages says what a template loads besides the standard library.
type packages struct {
	names  []string
	must   bool     // each of them was asked for by name
	loaded []string // those that did load
}

// planPreload refuses what snippets themselves may not import: it would lie in
// their reach all the same.
func planPreload(names []string) (packages, error) {
	if slices.Equal(names, []string{AutoPreload}) {
		return packages{names: usualPackages}, nil
	}
	for _, name := range names {
		if !defaultPolicy.Denies(name) {
			continue
		}
		rule, _ := defaultPolicy.Find(name)
		return packages{}, fmt.Errorf("%s cannot be preloaded: snippets may not import it, since it %s; leave it out of --preload", name, rule.Reason)
	}
	return packages{names: names, must: true}, nil
}

// firstTemplate starts a template as New needs one.
func (s *Sandbox) firstTemplate() (*template, error) {
	t, err := s.neededTemplate()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w%s", s.python.describe(), err, s.packages.advice())
	}
	s.packages.loaded = t.loaded
	return t, nil
}

// neededTemplate starts a template while there is none. Packages that nobody
// asked for by name never keep it from starting: then there are none from now on.
func (s *Sandbox) neededTemplate() (*template, error) {
	t, err := s.bootTemplate()
	if err == nil || len(s.packages.names) == 0 || s.packages.must || s.closing() {
		return t, err
	}
	s.log.Warn("packages are not preloaded", "packages", s.packages.names, "error", err.Error())
	s.packages = packages{}
	return s.bootTemplate()
}

// bootTemplate starts a template with the packages of now; heirs are made alike.
func (s *Sandbox) bootTemplate() (*template, error) {
	s.home = ""
	if len(s.packages.names) > 0 {
		s.home = filepath.Join(s.base, "home-"+rand.Text())
	}
	var err error
	if s.boot, err = s.spec().Boot(); err != nil {
		return nil, err
	}
	return s.startTemplate(atOnce)
}

// advice is what to try when a template with packages does not start: the error
// cannot always say that one of them was the cause, as when it crashed.
func (p packages) advice() string {
	if len(p.names) == 0 {
		return ""
	}
	return fmt.Sprintf(" (with --preload %s; install what is missing for this Python, or leave it out)", strings.Join(p.names, ","))
}

// makeHome makes the folder that the template has while it loads packages, and
// returns what removes it. A child never sees it.
func (s *Sandbox) makeHome() (remove func(), err error) {
	if s.home == "" {
		return func() {}, nil
	}
	remove = func() { _, _ = removeTrees([]string{s.home}) } // packages may have made folders that are closed
	if err := makeFolder(s.home, s.layers.identity); err != nil {
		remove()
		return nil, fmt.Errorf("make the template's folder: %w", err)
	}
	return remove, nil
}

// listSource is a snippet that lists what it can import.
//
//go:embed packages.py
var listSource string

// listTime bounds how long it may take: functions on AWS wait for it before
// their first run.
const listTime = 5 * time.Second

// listAge is how long a listing is good: somebody may install a package.
const listAge = time.Minute

// listing is what the snippets of a sandbox can import, once it is known.
type listing struct {
	asking  singleflight.Group
	known   atomic.Pointer[snippet.Packages]
	current atomic.Bool // no template came since, and it is not too old
	age     time.Duration
}

// Packages lists what snippets can import besides the standard library. The
// first call runs a snippet that looks, with the sight and the rights that all
// have; what it found is kept for a minute, or until the template interpreter is
// another one.
// Callers at one time share one look. The error is snippet.ErrUnavailable when it
// could not look now, or ctx's own.
func (s *Sandbox) Packages(ctx context.Context) (snippet.Packages, error) {
	if known := s.listing.known.Load(); known != nil && s.listing.current.Load() {
		return *known, nil
	}
	look := s.listing.asking.DoChan("", func() (any, error) {
		s.listing.current.Store(true)
		found, err := s.list(context.WithoutCancel(ctx)) // a caller who leaves does not end it for the others
		if err != nil {
			s.listing.current.Store(false)
			return nil, fmt.Errorf("list packages: %w", err)
		}
		s.listing.known.Store(&found)
		time.AfterFunc(s.listing.age, func() { s.listing.current.Store(false) })
		return found, nil
	})
	select {
	case r := <-look:
		found, _ := r.Val.(snippet.Packages)
		return found, r.Err
	case <-ctx.Done():
		return snippet.Packages{}, ctx.Err()
	}
}

func (s *Sandbox) list(ctx context.Context) (snippet.Packages, error) {
	limits := snippet.DefaultLimits()
	limits.StdoutChars = 1 << 20
	r, err := s.Run(ctx, snippet.Job{
		ID: "packages", Limits: limits,
		Policy:  snippet.Policy{Mode: snippet.DenyListed}, // it looks with importlib
		Request: snippet.Request{Code: listSource, Timeout: listTime},
	})
	if err != nil {
		return snippet.Packages{}, err
	}
	if r.Outcome != snippet.OK {
		return snippet.Packages{}, fmt.Errorf("%w: %s: %s", snippet.ErrUnavailable, r.Reason, r.Stderr)
	}
	var found snippet.Packages
	if err := json.Unmarshal([]byte(r.Stdout), &found); err != nil {
		return snippet.Packages{}, fmt.Errorf("decode: %w", err)
	}
	return found, nil
}
