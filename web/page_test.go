//go:build web

package web_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"cloche/internal/api"
	"cloche/internal/metrics"
)

// TestPage is one session of an operator, from a fresh store on.
func TestPage(t *testing.T) {
	chrome := browser(t)
	s := startServer(t, filepath.Join(t.TempDir(), "data"))
	p := open(t, chrome, s.url)
	for _, part := range []struct {
		name string
		test func(*testing.T, *server, *tab)
	}{
		{"fresh store", fresh},
		{"demo", demo},
		{"filter", filter},
		{"detail", detail},
		{"picture", picture},
		{"markup", markup},
		{"refused request", refusedRequest},
		{"looks", looks},
		{"restart", restart},
	} {
		ok := t.Run(part.name, func(t *testing.T) {
			p.t, s.t = t, t
			part.test(t, s, p)
			p.noNonsense()
			p.check("ERR_CONNECTION_REFUSED", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET", "status of 422")
		})
		p.t, s.t = t, t
		if !ok {
			p.screenshot("failed")
			return
		}
	}
}

func fresh(t *testing.T, _ *server, p *tab) {
	want := map[string]string{"executions": "0", "OK": "0", "BLOCKED": "0", "TIMEOUT": "0", "ERROR": "0", "demo": "0"}
	if d := cmp.Diff(want, p.tiles("outcomes")); d != "" {
		t.Errorf("tiles (-want +got):\n%s", d)
	}
	want = map[string]string{"in_flight": "0", "waiting": "0", "refused": "0", "invalid": "0", "queue": "–"}
	if d := cmp.Diff(want, p.tiles("load")); d != "" {
		t.Errorf("load (-want +got):\n%s", d)
	}
	for _, area := range []string{"policy", "code", "service"} {
		if state := p.glance(area); state != "idle" {
			t.Errorf("%s is %s without a run", area, state)
		}
	}
	for _, tile := range []string{"OK", "ERROR", "demo"} {
		if rate := p.text(`#outcomes [data-tile="` + tile + `"] .rate`); rate != "no runs yet" {
			t.Errorf("%s: a share of nothing is %q", tile, rate)
		}
	}
	if words := p.text("#histogram") + p.text("#series"); !strings.Contains(words, "No runs yet") || !strings.Contains(words, "No runs in the last hour") {
		t.Errorf("charts say %s", words)
	}
	if n := value[int](p, `document.querySelectorAll("#layers li").length`); n < 3 {
		t.Errorf("%d isolation layers", n)
	}
	p.screenshot("empty")
	p.accessible("empty")
	p.keys(kb.Tab)
	if first := value[string](p, "document.activeElement.textContent"); first != "Skip to the content" {
		t.Errorf("the first stop of the keyboard is %q", first)
	}
}

func demo(t *testing.T, s *server, p *tab) {
	p.click("#demo")
	p.await(`document.querySelector("#demo-result").textContent.includes("16 of 16 cases came out as expected")`)
	p.shows("outcomes", map[string]string{"executions": "16", "OK": "5", "BLOCKED": "6", "TIMEOUT": "1", "ERROR": "4", "demo": "16"})
	for tile, rate := range map[string]string{"OK": "31.3", "BLOCKED": "37.5", "TIMEOUT": "6.3", "ERROR": "25", "demo": "100"} {
		if got := p.text(`#outcomes [data-tile="` + tile + `"] .rate`); got != rate+"\u00a0% of all" {
			t.Errorf("%s: rate %q, want %q", tile, got, rate)
		}
	}
	var m api.Metrics
	s.get("/metrics", &m)
	if m.Executions != 16 || m.Demo != 16 {
		t.Errorf("the server counts %d and %d", m.Executions, m.Demo)
	}
	for reason, n := range m.Reasons {
		got := value[string](p, fmt.Sprintf(`[...document.querySelectorAll("#reasons tbody tr")].find((r) => r.cells[0].textContent === %s)?.cells[1].textContent ?? "0"`, text(reason)))
		if got != strconv.FormatInt(n, 10) {
			t.Errorf("reason %s: %s, want %d", reason, got, n)
		}
	}
	if n := rows(p); n != 16 {
		t.Errorf("%d rows", n)
	}
	if n := value[int](p, `document.querySelectorAll("#series .fill").length`); n < 4 {
		t.Errorf("%d parts in the series", n)
	}
	if words := value[string](p, `document.querySelector("#series svg").getAttribute("aria-label")`); !strings.Contains(words, "16 runs") {
		t.Errorf("the series says %q", words)
	}
	if p50 := p.text(`[data-value="p50_ms"]`); !strings.HasSuffix(p50, "s") {
		t.Errorf("p50 %q", p50)
	}
}

// glance is the state of an area.
func (p *tab) glance(area string) string {
	p.t.Helper()
	return value[string](p, `document.querySelector('#glance [data-area="`+area+`"]').dataset.state`)
}

func rows(p *tab) int { return value[int](p, `document.querySelectorAll("#events tbody tr").length`) }

func filter(t *testing.T, _ *server, p *tab) {
	for outcome, n := range map[string]int{"BLOCKED": 6, "TIMEOUT": 1, "ERROR": 4, "OK": 5} {
		p.click(`#filter input[value="` + outcome + `"]`)
		p.await(fmt.Sprintf(`document.querySelectorAll("#events tbody tr").length === %d &&
			[...document.querySelectorAll("#events tbody .badge")].every((b) => b.textContent === %s)`, n, text(outcome)))
		p.await(fmt.Sprintf(`document.querySelector("#announce").textContent.endsWith("were %s: %d.")`, outcome, n))
	}
	// By the keyboard: the arrow goes on to the next choice.
	value[bool](p, `document.querySelector('#filter input[value=""]').focus(), true`)
	p.keys(" ")
	p.await(`document.querySelectorAll("#events tbody tr").length === 16`)
	p.keys(kb.ArrowDown)
	p.await(`document.querySelectorAll("#events tbody tr").length === 5`)
	p.keys(kb.ArrowUp)
	p.await(`document.querySelectorAll("#events tbody tr").length === 16`)
}

func detail(t *testing.T, s *server, p *tab) {
	var page metrics.Page
	s.get("/events?outcome=BLOCKED&limit=1", &page)
	e := page.Events[0]
	button := fmt.Sprintf(`document.querySelector('#events tr[data-id="%s"] button')`, e.ID)
	value[bool](p, button+`.focus(), true`)
	p.keys(kb.Enter)
	p.await(`document.querySelector("#detail").open`)
	fields := value[map[string]string](p, `Object.fromEntries([...document.querySelectorAll("#detail-fields div")].map(
		(f) => [f.querySelector("dt").textContent, f.querySelector("dd").textContent]))`)
	for name, want := range map[string]string{
		"Run": e.ID, "Outcome": "BLOCKED", "Reason": string(e.Reason), "Tenant": e.Tenant, "Demo": "yes",
		"Source, SHA-256": e.CodeSHA256, "First refusal": e.Blocked, "Refusals": strconv.Itoa(e.BlockedCount),
	} {
		if fields[name] != want {
			t.Errorf("%s: %q, want %q", name, fields[name], want)
		}
	}
	if len(fields) < 19 || !value[bool](p, `document.querySelector("#detail").contains(document.activeElement)`) {
		t.Errorf("%d fields, or the focus is elsewhere", len(fields))
	}
	p.accessible("detail")
	p.screenshot("detail")
	p.keys(kb.Escape)
	p.await(`!document.querySelector("#detail").open && document.activeElement === ` + button)
	// The focus survives that new runs come into the table.
	s.execute("1")
	p.await(`document.querySelectorAll("#events tbody tr").length === 17`)
	if !value[bool](p, `document.activeElement === `+button) {
		t.Error("a new run takes the focus")
	}
}

// try runs code in the editor and waits for its verdict.
func (p *tab) try(code string) {
	p.t.Helper()
	value[bool](p, fmt.Sprintf(`(document.querySelector("#code").value = %s, document.querySelector("#verdict").replaceChildren(), true)`, text(code)))
	p.click("#run")
	p.await(`document.querySelector("#verdict h3")`)
}

func picture(t *testing.T, _ *server, p *tab) {
	value[bool](p, `(document.querySelector("#example").value = "1", document.querySelector("#example").dispatchEvent(new Event("change")), true)`)
	value[bool](p, `(document.querySelector("#code").focus(), true)`)
	p.keys(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl))
	p.await(`document.querySelector("#verdict img")?.complete`)
	got := value[struct {
		Src, Alt      string
		Width, Height int
	}](p, `(({src, alt, naturalWidth, naturalHeight}) => ({src: src.slice(0, 22), alt, width: naturalWidth, height: naturalHeight}))(document.querySelector("#verdict img"))`)
	if got.Src != "data:image/png;base64," || got.Width != 160 || got.Height != 90 || got.Alt != "Picture picture.png" {
		t.Errorf("picture %+v", got)
	}
	if link := value[string](p, `document.querySelector("#verdict a").download`); link != "picture.png" {
		t.Errorf("to be saved as %q", link)
	}
	p.shows("outcomes", map[string]string{"executions": "18", "OK": "7", "demo": "16"})
	p.screenshot("picture")
}

// hostile is markup that would show itself by doing something.
const hostile = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script><b>bold</b>`

func markup(t *testing.T, _ *server, p *tab) {
	p.try(`import sys
text = """` + hostile + `"""
print(text)
print(text, file=sys.stderr)
open("<img src=x onerror=document.title='owned'>.txt", "w").write(text)
open("<b>page<b>.html", "w").write("<script>parent.document.title='owned'</script>")
open("drawing.svg", "w").write("<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><script>parent.document.title='owned'<" + "/script></svg>")
raise ValueError(text)`)
	verdict := p.text("#verdict")
	if n := strings.Count(verdict, hostile); n < 3 { // stdout, stderr and the exception
		t.Errorf("markup is shown %d times:\n%s", n, verdict)
	}
	for _, want := range []string{"<img src=x onerror=document.title='owned'>.txt", "<b>page<b>.html", "ValueError"} {
		if !strings.Contains(verdict, want) {
			t.Errorf("no %q in\n%s", want, verdict)
		}
	}
	p.try("'" + strings.ReplaceAll(hostile, "'", "\\'") + "'")
	if verdict := p.text("#verdict"); !strings.Contains(verdict, "<b>bold</b>") {
		t.Errorf("value: %s", verdict)
	}
	p.untouched()

	// And in the records: what was refused is the snippet's own text.
	p.try(`open("/etc/<b>bold</b><img src=x>")`)
	p.await(`document.querySelector("#events tbody").textContent.includes("<b>bold</b><img src=x>")`)
	value[bool](p, `(document.querySelector("#events tbody button").click(), true)`)
	if shown := p.text("#detail-fields"); !strings.Contains(shown, "<b>bold</b><img src=x>") {
		t.Errorf("detail: %s", shown)
	}
	p.untouched()
	p.keys(kb.Escape)

	// A saved file must never be a page of ours.
	p.try(`open("page.html", "w").write("<script>1</script>")`)
	blob := value[string](p, `fetch(document.querySelector("#verdict a").href).then((r) => r.headers.get("Content-Type"), () => "refused")`)
	if blob != "application/octet-stream" && blob != "refused" {
		t.Errorf("a page of the snippet's would be served as %s", blob)
	}
	// Even a mistake in the page's scripts cannot make markup from text.
	if !value[bool](p, `(() => { try { document.createElement("p").innerHTML = "<b>x</b>"; return false } catch { return true } })()`) {
		t.Error("text can become markup")
	}
	p.mu.Lock()
	p.faults, p.requests = nil, nil // the policy's refusals, which are meant
	p.mu.Unlock()
}

// untouched fails if text became part of the page.
func (p *tab) untouched() {
	p.t.Helper()
	if title := value[string](p, "document.title"); title != "Cloche" {
		p.t.Errorf("the title is %q", title)
	}
	if n := value[int](p, `document.querySelectorAll("main b, main script, dialog b, img[src='x'], iframe").length`); n > 0 {
		p.t.Errorf("%d elements came out of text", n)
	}
}

func refusedRequest(t *testing.T, _ *server, p *tab) {
	value[bool](p, `(document.querySelector("#timeout").value = "5", true)`)
	p.try("1")
	if words := p.text("#verdict"); !strings.Contains(words, "422") || !strings.Contains(words, "timeout_ms: ") {
		t.Errorf("a refusal is shown as %s", words)
	}
	value[bool](p, `(document.querySelector("#timeout").value = "5000", true)`)
	p.await(`document.querySelector('#load [data-tile="invalid"] .count').textContent === "1"`)
}

// looks leaves pictures, and looks for what does not fit or cannot be read.
func looks(t *testing.T, _ *server, p *tab) {
	value[bool](p, `(document.querySelectorAll("details").forEach((d) => { d.open = true }), true)`)
	p.try("import sys\nprint('some output')\nprint('and a warning', file=sys.stderr)\nopen('note.txt', 'w').write('hello')\n1 / 0")
	p.accessible("busy")
	value[bool](p, `(document.querySelectorAll("details").forEach((d) => { d.open = false }), true)`)
	p.screenshot("busy")
	p.prefer("dark")
	p.accessible("dark")
	p.screenshot("dark")
	p.prefer("light")
	p.do(chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile))
	for what, node := range map[string]string{"page": "document.documentElement", "table of runs": `document.querySelector(".scroll:has(#events)")`} {
		if over := value[int](p, node+".scrollWidth - "+node+".clientWidth"); over > 0 {
			t.Errorf("the %s is %d pixels too wide for a phone", what, over)
		}
	}
	p.accessible("phone")
	p.screenshot("phone")
	p.do(chromedp.EmulateViewport(1280, 900))
}

func restart(t *testing.T, s *server, p *tab) {
	before := p.tiles("outcomes")
	s.stop()
	p.await(`document.body.dataset.link === "down"`)
	if words := p.text("#link"); !strings.Contains(words, "The server does not answer.") || !strings.Contains(words, "Numbers of ") || !strings.Contains(words, "Next try in") {
		t.Errorf("the page says %q", words)
	}
	if state := p.glance("service"); state != "act" {
		t.Errorf("the service is %s", state)
	}
	if title := value[string](p, "document.title"); title != "(away) Cloche" {
		t.Errorf("the title is %q", title)
	}
	if d := cmp.Diff(before, p.tiles("outcomes")); d != "" {
		t.Errorf("the old numbers are not kept:\n%s", d)
	}
	p.screenshot("away")
	p.accessible("away")
	p.mu.Lock()
	p.requests = nil
	p.mu.Unlock()
	time.Sleep(6 * time.Second)
	p.mu.Lock()
	tries := 0
	for _, url := range p.requests {
		if strings.HasSuffix(url, "/metrics") {
			tries++
		}
	}
	p.mu.Unlock()
	if tries > 4 { // a page that does not back off has many more
		t.Errorf("%d tries in 6 s", tries)
	}
	s.start(s.addr())
	began := time.Now()
	p.await(`document.body.dataset.link === "up"`)
	t.Logf("back to live %v after the server, with %d tries in 6 s before", time.Since(began).Round(time.Millisecond), tries)
	if d := cmp.Diff(before, p.tiles("outcomes")); d != "" {
		t.Errorf("other numbers after the restart:\n%s", d)
	}
	if state := p.glance("service"); state != "calm" {
		t.Errorf("back again, the service is %s", state)
	}
	p.try("6 * 7")
	p.await(fmt.Sprintf(`document.querySelector('#outcomes [data-tile="executions"] .count').textContent > %s`, text(before["executions"])))
}

// TestManyEvents measures the page on a store that has seen much.
func TestManyEvents(t *testing.T) {
	const n = 10_000
	chrome := browser(t)
	data := filepath.Join(t.TempDir(), "data")
	seed(t, data, n)
	s := startServer(t, data)
	open(t, chrome, s.url) // the browser's own first page costs more than any later
	p := blank(t, chrome)
	command(p, func(ctx context.Context) error {
		_, err := chromedp.Call(ctx, network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true})
		return err
	})
	p.load(s.url)
	ready := value[float64](p, "performance.now()")
	m := value[struct{ Bytes, Files, Paint, Data float64 }](p, `(() => {
		const all = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
		const page = all.filter((e) => e.name.includes("/dashboard"));
		const sum = (list) => list.reduce((n, e) => n + e.transferSize, 0);
		return {
			bytes: sum(page), files: page.length, data: sum(all) - sum(page),
			paint: performance.getEntriesByName("first-contentful-paint")[0].startTime,
		};
	})()`)
	t.Logf("%d events: page %.0f bytes in %.0f files, first answers %.0f bytes, first contentful paint after %.0f ms, live before %.0f ms",
		n, m.Bytes, m.Files, m.Data, m.Paint, ready)
	if m.Bytes >= 300<<10 || m.Bytes < 10<<10 {
		t.Errorf("a page of %.0f bytes", m.Bytes)
	}
	if m.Paint > 5000 { // a second is the aim; the rest is for a machine that is busy
		t.Errorf("first paint after %.0f ms", m.Paint)
	}
	p.shows("outcomes", map[string]string{"executions": "10,000"})
	if got := rows(p); got != metrics.RecentEvents {
		t.Errorf("%d rows", got)
	}
	p.click(`#filter input[value="TIMEOUT"]`)
	p.await(`document.querySelectorAll("#events tbody tr").length === 50 && [...document.querySelectorAll("#events tbody .badge")].every((b) => b.textContent === "TIMEOUT")`)
	p.noNonsense()
	p.screenshot("many")
	p.click(`#filter input[value=""]`)
	p.await(`document.querySelectorAll("#events tbody .OK").length > 0`)
	p.accessible("many")
	p.check()
}

// TestPrefix has the page where a gateway or a proxy has it.
func TestPrefix(t *testing.T) {
	s := startServer(t, filepath.Join(t.TempDir(), "data"))
	p := open(t, browser(t), proxied(t, s, nil))
	p.click("#demo")
	p.shows("outcomes", map[string]string{"executions": "16", "OK": "5", "BLOCKED": "6", "TIMEOUT": "1", "ERROR": "4", "demo": "16"})
	p.click(`#filter input[value="ERROR"]`)
	p.await(`document.querySelectorAll("#events tbody tr").length === 4`)
	p.try("6 * 7")
	if words := p.text("#verdict"); !strings.Contains(words, "42") {
		t.Errorf("verdict %s", words)
	}
	for _, link := range value[[]string](p, `[...document.querySelectorAll("footer a")].map((a) => a.href)`) {
		if !strings.HasPrefix(link, p.base+"/") {
			t.Errorf("a link to %s", link)
		}
	}
	p.noNonsense()
	p.check()
}

// TestLoad shows that capacity fails where it does, and only there.
func TestLoad(t *testing.T) {
	chrome := browser(t)
	s := startServer(t, filepath.Join(t.TempDir(), "data"), "--concurrency", "1", "--queue", "1", "--wait", "1s")
	p := open(t, chrome, s.url)
	done := make(chan int, 3)
	for range 3 {
		go func() { done <- s.execute("import time\ntime.sleep(4)") }()
	}
	p.await(`document.querySelector('#load [data-tile="in_flight"] .count').textContent === "1"`)
	statuses := map[int]int{}
	for range 3 {
		statuses[<-done]++
	}
	if statuses[200] != 1 || statuses[429] != 2 {
		t.Fatalf("statuses %v", statuses)
	}
	p.shows("load", map[string]string{"in_flight": "0", "waiting": "0", "refused": "2"})
	if state := p.glance("capacity"); state != "act" {
		t.Errorf("capacity is %s", state)
	}
	p.check()

	// A server that is many processes knows nothing of its load, and says so.
	p = open(t, chrome, proxied(t, s, func(m map[string]any) { m["load"] = nil }))
	for name, n := range p.tiles("load") {
		if words := p.text(`#load [data-tile="` + name + `"] .rate`); n != "–" || words != "not measured here" {
			t.Errorf("%s: %q, %q", name, n, words)
		}
	}
	if state := p.glance("capacity"); state != "none" {
		t.Errorf("capacity is %s", state)
	}
	p.noNonsense()
	p.screenshot("load-unknown")
	p.accessible("load unknown")
	p.check()
	p = open(t, chrome, proxied(t, s, func(m map[string]any) {
		m["load"] = map[string]any{"in_flight": 3, "waiting": nil, "queue_wait_ms": nil}
	}))
	p.shows("load", map[string]string{"in_flight": "3", "waiting": "–", "refused": "–", "queue": "0\u00a0ms"})
	if words := p.text(`#load [data-tile="in_flight"] .rate`) + p.text(`#load [data-tile="waiting"] .rate`); words != "runs that have a slot nownot measured here" {
		t.Errorf("captions %q", words)
	}
	p.noNonsense()
	p.check()
}
