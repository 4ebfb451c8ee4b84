//go:build web

package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience bounds every wait for the page. It is for a machine that is busy with
// other tests; what is fast is measured apart.
const patience = 40 * time.Second

// browser starts a Chromium with a profile of its own, which asks nothing from
// elsewhere.
func browser(t *testing.T) context.Context {
	t.Helper()
	allocator, stop := chromedp.NewExecAllocator(context.Background(),
		chromedp.ExecPath(chromium(t)), chromedp.UserDataDir(t.TempDir()), chromedp.NoSandbox, chromedp.NoFirstRun,
		chromedp.Flag("headless", true), chromedp.Flag("disable-gpu", true), chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.Flag("disable-breakpad", true), chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.Flag("lang", "en-US"), chromedp.WSURLReadTimeout(patience))
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start Chromium: %v", err)
	}
	return ctx
}

func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			return found
		}
	}
	t.Fatal("there is no Chromium; 'make test-web' installs it on Debian and Ubuntu")
	return ""
}

// tab is a page in the browser, with all that went wrong in it.
type tab struct {
	t    *testing.T
	ctx  context.Context
	base string // the folder that the page lies in

	mu       sync.Mutex
	faults   []string
	requests []string
}

// open loads the page of a server in a new tab and waits for its first numbers.
func open(t *testing.T, browser context.Context, base string) *tab {
	t.Helper()
	p := blank(t, browser)
	p.load(base)
	return p
}

func blank(t *testing.T, browser context.Context) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	p := &tab{t: t, ctx: ctx}
	if err := chromedp.Listen(ctx, p.hear); err != nil {
		t.Fatal(err)
	}
	command(p, func(ctx context.Context) error {
		_, err := chromedp.Call(ctx, network.Enable, network.EnableParams{})
		return err
	})
	return p
}

func (p *tab) load(base string) {
	p.t.Helper()
	p.base = strings.TrimSuffix(base, "/")
	p.do(chromedp.EmulateViewport(1280, 900), chromedp.Navigate(p.base+"/dashboard"))
	p.await(`document.body.dataset.link === "up"`)
}

func command(p *tab, f func(context.Context) error) {
	p.t.Helper()
	if err := f(p.ctx); err != nil {
		p.t.Fatal(err)
	}
}

// hear collects what the page must not do.
func (p *tab) hear(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		p.faults = append(p.faults, "exception: "+e.ExceptionDetails.Text+" "+describe(e.ExceptionDetails.Exception))
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeAssert {
			p.faults = append(p.faults, fmt.Sprintf("console: %s", text(e.Args)))
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError {
			p.faults = append(p.faults, fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL))
		}
	case *network.EventRequestWillBeSent:
		p.requests = append(p.requests, e.Request.URL)
	}
}

func describe(o *runtime.RemoteObject) string {
	if o == nil {
		return ""
	}
	return o.Description
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// check fails for what went wrong so far, but for what is expected, and for every
// request to elsewhere.
func (p *tab) check(expected ...string) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, fault := range p.faults {
		if !containsAny(fault, expected) {
			p.t.Errorf("the page: %s", fault)
		}
	}
	for _, url := range p.requests {
		if !strings.HasPrefix(url, p.base+"/") && !strings.HasPrefix(url, "data:") {
			p.t.Errorf("the page asked for %s", url)
		}
	}
	p.faults, p.requests = nil, nil
}

func containsAny(s string, parts []string) bool {
	for _, part := range parts {
		if strings.Contains(s, part) {
			return true
		}
	}
	return false
}

func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		p.t.Fatal(err)
	}
}

// value evaluates an expression, or the promise that it makes. It goes through
// the devtools, which the page's policy does not bind.
func value[T any](p *tab, expression string) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%.200s: %v", expression, err)
	}
	return v
}

// await waits until an expression holds.
func (p *tab) await(expression string) {
	p.t.Helper()
	for end := time.Now().Add(patience); !value[bool](p, "Boolean("+expression+")"); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			p.screenshot("failed")
			p.t.Fatalf("never: %s\n%s", expression, value[string](p, "document.body.innerText"))
		}
	}
}

// text is what an element shows.
func (p *tab) text(selector string) string {
	p.t.Helper()
	return value[string](p, fmt.Sprintf("document.querySelector(%s).textContent", text(selector)))
}

func (p *tab) click(selector string) {
	p.t.Helper()
	p.do(chromedp.ScrollIntoView(chromedp.CSS(selector)), chromedp.Click(chromedp.CSS(selector)))
}

func (p *tab) keys(keys string, options ...chromedp.KeyOption) {
	p.t.Helper()
	p.do(chromedp.KeyEvent(keys, options...))
}

// tiles are the numbers of a list of tiles.
func (p *tab) tiles(list string) map[string]string {
	p.t.Helper()
	return value[map[string]string](p, fmt.Sprintf(`Object.fromEntries([...document.querySelectorAll("#%s [data-tile]")].map(
		(tile) => [tile.dataset.tile, tile.querySelector(".count").textContent]))`, list))
}

// shows waits until tiles have these numbers.
func (p *tab) shows(list string, want map[string]string) {
	p.t.Helper()
	for name, n := range want {
		p.await(fmt.Sprintf(`document.querySelector('#%s [data-tile="%s"] .count').textContent === %s`, list, name, text(n)))
	}
}

// prefer sets what the reader's system asks for: light or dark.
func (p *tab) prefer(scheme string) {
	p.t.Helper()
	command(p, func(ctx context.Context) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		})
		return err
	})
}

// screenshots is where pictures of the page are left for people.
const screenshots = "../bin/web"

func (p *tab) screenshot(name string) {
	p.t.Helper()
	value[bool](p, `(window.scrollTo(0, 0), true)`) // the head lies over what is above it
	time.Sleep(300 * time.Millisecond)              // for a chart that is drawn again
	picture, err := chromedp.Run(p.ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.MkdirAll(screenshots, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(screenshots, name+".png"), picture, 0o644)
	}
	if err != nil {
		p.t.Errorf("screenshot: %v", err)
	}
}

// noNonsense holds the page against what a number that is none looks like.
func (p *tab) noNonsense() {
	p.t.Helper()
	whole := value[string](p, `document.documentElement.outerHTML.replace(/"data:[^"]*"/g, "")`)
	for _, sign := range []string{"NaN", "undefined", "Infinity", "[object", ">null<", "null "} {
		if at := strings.Index(whole, sign); at >= 0 {
			p.t.Errorf("the page has %s: …%s…", sign, whole[max(0, at-100):min(len(whole), at+60)])
		}
	}
}

// axeFile is the accessibility checker, as 'make test-web' lays it.
const axeFile = "../.tools/web/node_modules/axe-core/axe.min.js"

type violation struct {
	ID, Impact, Help string
	Nodes            []struct {
		HTML           string
		FailureSummary string
	}
}

// accessible runs axe-core on the page as it is.
func (p *tab) accessible(state string) {
	p.t.Helper()
	axe, err := os.ReadFile(axeFile)
	if err != nil {
		p.t.Fatalf("axe-core is missing; 'make test-web' gets it: %v", err)
	}
	value[bool](p, string(axe)+"; true")
	found := value[struct {
		Violations []violation
		Passes     int
	}](p, `axe.run(document, {resultTypes: ["violations"]}).then((r) => ({violations: r.violations, passes: r.passes.length}))`)
	p.t.Logf("axe, %s: %d rules hold, %d do not", state, found.Passes, len(found.Violations))
	if found.Passes < 15 { // an open dialog leaves the least to look at
		p.t.Errorf("axe, %s: only %d rules were applied", state, found.Passes)
	}
	for _, v := range found.Violations {
		report := p.t.Logf
		if v.Impact == "serious" || v.Impact == "critical" {
			report = p.t.Errorf
		}
		report("axe, %s: %s, %s: %s: %.600s", state, v.Impact, v.ID, v.Help, text(v.Nodes))
	}
}
