package sandbox

import (
	"embed"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
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
	name   string
	what   string // what it tries
	kind   string
	why    string            // why it passes where it does
	reason string            // why it does not pass unconfined
	want   map[string]string // cell to held, passed or either
	code   string
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
	return probes
}

// parseProbe reads a probe's header: prose, then lines "key: value", which may go
// on in lines that are indented.
func parseProbe(name, text string) (p probe, machine string, err error) {
	p = probe{name: name, code: text, want: map[string]string{}}
	keys, order := map[string]string{}, []string{"what"}
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "# ")
		if !ok {
			break
		}
		key, value, isKey := strings.Cut(rest, ": ")
		if !isKey || !slices.Contains([]string{"kind", "machine", "holds", "passes", "why", unconfined}, key) {
			key, value = order[len(order)-1], rest
		} else {
			order = append(order, key)
		}
		keys[key] = strings.TrimSpace(keys[key] + " " + strings.TrimSpace(value))
	}
	p.what, p.kind, p.why = keys["what"], keys["kind"], keys["why"]
	if p.what == "" || p.kind == "" {
		return p, "", fmt.Errorf("the header lacks what it tries, or its kind")
	}
	if (p.why == "") != (keys["passes"] == "") {
		return p, "", fmt.Errorf("what passes needs a why, and nothing else does")
	}
	if err := p.expect(keys["holds"], keys["passes"]); err != nil {
		return p, "", err
	}
	return p, keys["machine"], p.expectUnconfined(keys[unconfined])
}

// expect fills in the expected answer of every cell. Each set, or each of its
// two halves, must be named once.
func (p *probe) expect(holds, passes string) error {
	for answer, list := range map[string]string{held: holds, passed: passes} {
		for _, item := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' }) {
			name, who, half := strings.Cut(item, "/")
			for _, w := range []string{asRoot, asUser} {
				if half && w != who {
					continue
				}
				if p.want[name+"/"+w] != "" {
					return fmt.Errorf("%s/%s is named twice", name, w)
				}
				p.want[name+"/"+w] = answer
			}
		}
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

func (p *probe) expectUnconfined(text string) error {
	answer, reason, _ := strings.Cut(text, " (")
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

// verdictOf reads the one line that a probe ends with.
func verdictOf(line string) string {
	switch word, _, _ := strings.Cut(line, " "); word {
	case "HELD":
		return held
	case "PASSED":
		return passed
	}
	return broken
}
