package sandbox

import (
	"cmp"
	"embed"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// What a probe can come to. A broken one says nothing about any layer.
const (
	held   = "held"
	passed = "passed"
	either = "either" // nobody can say in advance: it depends on how the kernel was built
	broken = "broken"
)

//go:embed testdata/prelude.py testdata/probes/*.py
var probeFiles embed.FS

// probe is one hostile program, with the answers that its header expects.
type probe struct {
	name    string
	what    string // what it tries
	kind    string
	why     string            // why it passes where it does
	reason  string            // why it does not pass unconfined
	want    map[string]string // cell to held, passed or either
	named   map[string]bool   // cells where it passes only since it was told a name that is the wall there
	untold  bool              // it is told nothing and has to find out everything
	lies    bool              // it forges its report: falsehoods has the last word
	timeout time.Duration     // of a lying probe; 0 means that it ends by itself
	code    string
}

// exposure is the kind of a probe that attacks nothing: it looks at what a run
// can see though it is none of its business. It passes where it sees it. The
// table has them apart, since nobody claims that they are held.
const exposure = "exposure"

func (p probe) exposure() bool { return p.kind == exposure }

// verdict reads the one line that a probe ends with.
func (p probe) verdict(line string) string {
	answers := map[string]string{"HELD": held, "PASSED": passed}
	if p.exposure() {
		answers = map[string]string{"HIDDEN": held, "SEEN": passed}
	}
	word, _, _ := strings.Cut(line, " ")
	return cmp.Or(answers[word], broken)
}

// readProbes reads the probes that this processor can run.
func readProbes(t *testing.T) []probe {
	t.Helper()
	files, err := probeFiles.ReadDir("testdata/probes")
	if err != nil {
		t.Fatal(err)
	}
	var probes []probe
	for _, f := range files {
		text, err := probeFiles.ReadFile("testdata/probes/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		p, machine, err := parseProbe(strings.TrimSuffix(f.Name(), ".py"), string(text))
		if err != nil {
			t.Fatalf("%s: %v", f.Name(), err)
		}
		if machine == "" || machine == map[string]string{"amd64": "x86_64"}[runtime.GOARCH] {
			probes = append(probes, p)
		}
	}
	if len(probes) < 75 {
		t.Fatalf("only %d probes", len(probes))
	}
	for _, p := range probes {
		if err := p.hunted(probes); err != nil {
			t.Fatalf("%s: %v", p.name, err)
		}
	}
	return probes
}

// hunted demands that where a name is the wall, a probe that is not told the name
// looks for it and does not find it.
func (p probe) hunted(probes []probe) error {
	for cell := range p.named {
		if !slices.ContainsFunc(probes, func(h probe) bool { return h.name == "hunt_"+p.name && h.untold && h.want[cell] == held }) {
			return fmt.Errorf("%s: no hunt_%s shows that the name is a wall", cell, p.name)
		}
	}
	return nil
}

// headerKeys are the keys of a probe's header. An exposure has hidden and seen
// in place of holds and passes.
var headerKeys = []string{"kind", "machine", "holds", "passes", "hidden", "seen", "named", "told", "lies", "timeout", "why", unconfined}

// parseProbe reads a probe's header: prose, then lines "key: value", which may go
// on in lines that are indented.
func parseProbe(name, text string) (p probe, machine string, err error) {
	p = probe{name: name, code: text, want: map[string]string{}, named: map[string]bool{}}
	keys, order := map[string]string{}, []string{"what"}
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "# ")
		if !ok {
			break
		}
		key, value, isKey := strings.Cut(rest, ": ")
		if !isKey || !slices.Contains(headerKeys, key) {
			key, value = order[len(order)-1], rest
		} else {
			order = append(order, key)
		}
		keys[key] = strings.TrimSpace(keys[key] + " " + strings.TrimSpace(value))
	}
	p.what, p.kind, p.why = keys["what"], keys["kind"], keys["why"]
	p.untold, p.lies = keys["told"] == "nothing", keys["lies"] == "yes"
	if p.what == "" || p.kind == "" || p.untold != (keys["told"] != "") || p.lies != (keys["lies"] != "") {
		return p, "", fmt.Errorf("the header lacks what it tries or its kind, or has another value than told: nothing and lies: yes")
	}
	if text := keys["timeout"]; text != "" {
		if p.timeout, err = time.ParseDuration(text); err != nil {
			return p, "", err
		}
	}
	holds, passes, others := "holds", "passes", []string{"hidden", "seen"}
	if p.exposure() {
		holds, passes, others = "hidden", "seen", []string{"holds", "passes", "named"}
	}
	for _, key := range others {
		if keys[key] != "" {
			return p, "", fmt.Errorf("%s is no word for a probe of kind %s", key, p.kind)
		}
	}
	if (p.why == "") != (keys[passes] == "") {
		return p, "", fmt.Errorf("what passes needs a why, and nothing else does")
	}
	if err := p.expect(keys[holds], keys[passes], keys["named"]); err != nil {
		return p, "", err
	}
	return p, keys["machine"], p.expectUnconfined(keys[unconfined])
}

// expect fills in the expected answer of every cell. Each set, or each of its
// two halves, must be named once.
func (p *probe) expect(holds, passes, named string) error {
	for _, list := range []struct{ sets, answer string }{{holds, held}, {passes, passed}, {named, passed}} {
		for _, cell := range cells(list.sets) {
			if p.want[cell] != "" {
				return fmt.Errorf("%s is named twice", cell)
			}
			p.want[cell] = list.answer
		}
	}
	for _, cell := range cells(named) {
		p.named[cell] = true
	}
	for _, s := range probeSets {
		for _, w := range []string{asRoot, asUser} {
			cell := s.name + "/" + w
			if p.want[cell] == "" {
				p.want[cell] = p.want[s.like+"/"+w]
			}
			if p.want[cell] == "" {
				return fmt.Errorf("no answer for %s", cell)
			}
		}
	}
	return nil
}

// cells are what a list of sets and halves of sets in a header stands for.
func cells(list string) (out []string) {
	for _, item := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' }) {
		name, who, half := strings.Cut(item, "/")
		for _, w := range []string{asRoot, asUser} {
			if !half || w == who {
				out = append(out, name+"/"+w)
			}
		}
	}
	return out
}

func (p *probe) expectUnconfined(text string) error {
	answer, reason, _ := strings.Cut(text, " (")
	if p.exposure() {
		answer = map[string]string{"hidden": held, "seen": passed}[answer]
	}
	p.want[unconfined], p.reason = answer, strings.TrimSuffix(reason, ")")
	if !slices.Contains([]string{held, passed, either}, answer) || (answer == passed) != (p.reason == "") {
		return fmt.Errorf("unconfined: %q is not passed, or held or either with a reason", text)
	}
	if answer == either {
		for cell, want := range p.want {
			if want == passed {
				p.want[cell] = either
			}
		}
	}
	return nil
}
