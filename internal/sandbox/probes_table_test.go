package sandbox

import (
	_ "embed"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// probesDoc is the table that this test makes when writeDocs is set.
const (
	probesDoc = "../../docs/probes.md"
	writeDocs = "CLOCHE_WRITE_DOCS"
)

//go:embed testdata/probes_intro.md
var probesIntro string

// checkTable holds the table in docs against what was measured.
func checkTable(t *testing.T, probes []probe, found findings, lacks []string) {
	t.Helper()
	if len(lacks) > 0 {
		t.Logf("NOT COMPARED: %s, since this machine has %s", probesDoc, strings.Join(lacks, ", "))
		return
	}
	doc := probeTable(probes, found)
	if os.Getenv(writeDocs) == "1" {
		if err := os.MkdirAll(filepath.Dir(probesDoc), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(probesDoc, []byte(doc), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(probesDoc)
	if err != nil || string(text) != doc {
		t.Errorf("%s is not what was measured (%v); write it anew with %s=1", probesDoc, err, writeDocs)
	}
}

func probeTable(probes []probe, found findings) string {
	var sets strings.Builder
	for _, s := range probeSets {
		fmt.Fprintf(&sets, "- **%s**: %s.\n", s.name, s.what)
	}
	var doc strings.Builder
	exposures := ofKind(probes, exposure)
	probes = slices.DeleteFunc(slices.Clone(probes), probe.exposure)
	doc.WriteString(strings.NewReplacer("{abi}", strconv.Itoa(tableABI), "{count}", strconv.Itoa(len(probes)), "{sets}", sets.String()).Replace(probesIntro))
	doc.WriteString(countTable(probes, found))
	doc.WriteString(namedLine(probes))
	for _, kind := range kindsOf(probes) {
		fmt.Fprintf(&doc, "\n## %s%s\n\n", strings.ToUpper(kind[:1]), kind[1:])
		doc.WriteString(kindTable(ofKind(probes, kind), found, "probe", "what it tries"))
	}
	doc.WriteString("\n## What can be seen\n\n" + seenIntro)
	doc.WriteString(kindTable(exposures, found, "look", "what it learns"))
	why := func(p probe) string { return p.why }
	doc.WriteString(reasons("Why it can be seen", exposures, why))
	doc.WriteString(reasons("Why some pass in spite of the filter", passing(probes, found, true), why))
	doc.WriteString(reasons("Why some pass without the filter", passing(probes, found, false), why))
	doc.WriteString(reasons("Why some are held, or may be, without any sandbox", probes, func(p probe) string { return p.reason }))
	return doc.String()
}

const seenIntro = `The looks below attack nothing and are no part of the count above: nobody claims that they are held. Each is tested like a probe, set for set.

- "seen": a run that gets past the guard can learn it there; also "root" or "user", if only a run of a server of root's, or of an ordinary user's, can;
- "–": it cannot.

`

// countTable says how many probes pass in each set.
func countTable(probes []probe, found findings) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| passed of %d | as root | as a user |\n|---|---|---|\n", len(probes))
	for _, s := range probeSets {
		fmt.Fprintf(&b, "| %s | %d | %d |\n", s.name, countPassed(probes, found, s.name+"/"+asRoot), countPassed(probes, found, s.name+"/"+asUser))
	}
	return b.String()
}

// namedLine says which probes the count leaves out, since what they did took a
// name that the test gave away.
func namedLine(probes []probe) string {
	var names []string
	for _, p := range probes {
		for _, cell := range slices.Sorted(maps.Keys(p.named)) {
			names = append(names, p.name+" ("+cell+")")
		}
	}
	return "\nNot counted, since the name that they were told is the wall there: " + strings.Join(names, ", ") + ".\n"
}

func countPassed(probes []probe, found findings, cell string) (n int) {
	for _, p := range probes {
		if p.passes(found, cell) {
			n++
		}
	}
	return n
}

func kindsOf(probes []probe) []string {
	var kinds []string
	for _, p := range probes {
		kinds = append(kinds, p.kind)
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

func ofKind(probes []probe, kind string) []probe {
	return slices.DeleteFunc(slices.Clone(probes), func(p probe) bool { return p.kind != kind })
}

// passes is false where nobody can say in advance: the table must not depend on
// how this kernel was built.
func (p probe) passes(found findings, cell string) bool {
	return p.want[cell] != either && !p.named[cell] && p.verdict(found[p.name][cell]) == passed
}

// passing are the probes that pass in some set, with the filter or only without
// it.
func passing(probes []probe, found findings, filtered bool) []probe {
	return slices.DeleteFunc(slices.Clone(probes), func(p probe) bool {
		var somewhere, there bool
		for cell := range p.want {
			if cell != unconfined && (p.passes(found, cell) || p.want[cell] == either) {
				somewhere, there = true, there || filteredCell(cell)
			}
		}
		return !somewhere || there != filtered
	})
}

func kindTable(probes []probe, found findings, first, second string) string {
	var b strings.Builder
	b.WriteString("| " + first + " | " + second + " |")
	for _, s := range probeSets {
		b.WriteString(" " + s.name + " |")
	}
	b.WriteString(" " + unconfined + " |\n|---|---|" + strings.Repeat("---|", len(probeSets)+1) + "\n")
	for _, p := range probes {
		fmt.Fprintf(&b, "| %s | %s |", p.name, strings.ReplaceAll(p.what, "|", "\\|"))
		for _, s := range probeSets {
			b.WriteString(" " + word(p, found, s.name+"/"+asRoot, s.name+"/"+asUser) + " |")
		}
		b.WriteString(" " + word(p, found, unconfined, unconfined) + " |\n")
	}
	return b.String()
}

// word is what the table says of a probe in a set.
func word(p probe, found findings, root, user string) string {
	r, u := p.passes(found, root), p.passes(found, user)
	switch {
	case p.want[root] == either:
		return "?"
	case p.named[root] && !u:
		return "root: name"
	case r && u && p.exposure():
		return "seen"
	case r && u:
		return "**passed**"
	case r:
		return "root"
	case u:
		return "user"
	}
	return "–"
}

// reasons lists probes by what is said about them, so that nothing is said twice.
func reasons(title string, probes []probe, of func(probe) string) string {
	names, order := map[string][]string{}, []string{}
	for _, p := range probes {
		text := of(p)
		if text != "" && names[text] == nil {
			order = append(order, text)
		}
		names[text] = append(names[text], p.name)
	}
	if len(order) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n## " + title + "\n\n")
	for _, text := range order {
		fmt.Fprintf(&b, "- %s: %s\n", strings.Join(names[text], ", "), text)
	}
	return b.String()
}
