package sandbox

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"cloche/internal/guard"
)

// probeSet is one choice of layers that the probes run against, always without
// the guard. A new one costs a line here, and a word in the header of each probe
// whose answer differs from that of the set it is like.
type probeSet struct {
	name   string
	what   string
	weaken weaken
	sole   bool
	like   string // the set whose answers hold where a probe does not name this one
}

var probeSets = []probeSet{
	{name: "all", what: "every layer of this machine", weaken: weaken{guard: true}},
	{name: "landlock1", what: "Landlock cut to ABI 1 (Linux 5.13)", weaken: weaken{guard: true, abiCut: true, landlock: 1}},
	{name: "landlock2", what: "Landlock cut to ABI 2 (Linux 5.19)", weaken: weaken{guard: true, abiCut: true, landlock: 2}},
	{
		name: "mounts", what: "no Landlock; for root a mount namespace is the file wall, for others the filter refuses every open",
		weaken: weaken{guard: true, refuse: []string{guard.FeatureLandlock}},
	},
	{
		name: "nolandlock", what: "no Landlock and no mounts; the filter refuses every open",
		weaken: weaken{guard: true, refuse: []string{guard.FeatureLandlock, guard.FeatureMount}},
	},
	{
		name: "noseccomp", what: "no syscall filter; Landlock holds",
		weaken: weaken{guard: true, refuse: []string{guard.FeatureSeccomp}},
	},
	{
		name: "neither", what: "no syscall filter and no file wall; limits and identity hold",
		weaken: weaken{guard: true, refuse: []string{guard.FeatureSeccomp, guard.FeatureLandlock, guard.FeatureMount}},
	},
	{
		name: "lambda", what: "what Lambda is reported to refuse: no filter, no file wall, no prctl; what a run leaves is swept by user",
		weaken: weaken{guard: true, refuse: lambda.refuse, uid: lambda.uid}, sole: true, like: "neither",
	},
}

func (s probeSet) filtered() bool { return !slices.Contains(s.weaken.refuse, guard.FeatureSeccomp) }

// Who the server of a set is. Root gives snippets a user of their own.
const (
	asRoot = "root"
	asUser = "user"
)

// unconfined is the place of the control runs among the cells.
const unconfined = "unconfined"

// findings is what each probe answered: by its name, then by its cell, which is
// a set with a user ("all/root") or unconfined.
type findings map[string]map[string]string

func (f findings) set(probe, cell, line string) {
	if f[probe] == nil {
		f[probe] = map[string]string{}
	}
	f[probe][cell] = line
}

func (f findings) add(more findings) {
	for probe, cells := range more {
		for cell, line := range cells {
			f.set(probe, cell, line)
		}
	}
}

// probesOut names the file that a helper process of TestProbes answers in.
const probesOut = "CLOCHE_TEST_PROBES_OUT"

// TestProbes runs every probe against every set of layers, as root and as an
// ordinary user, and once without any sandbox, which shows that it can pass at
// all. Sandboxes without a filter end what descends from their process, so this
// happens in processes of their own.
func TestProbes(t *testing.T) {
	probes := readProbes(t)
	if out := os.Getenv(probesOut); out != "" {
		text, err := json.Marshal(measureProbes(t, probes))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(out, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if testing.Short() {
		t.Skip("NOT TESTED: -short")
	}
	if os.Geteuid() == 0 && !mayActForOthers() {
		t.Skip("NOT TESTED: this root cannot become another user, and has more rights than an ordinary one")
	}
	found := probeAsAll(t, persons())
	lacks := machineLacks()
	for _, p := range probes {
		p.judge(t, found[p.name], lacks)
	}
	if !t.Failed() && everySet() {
		checkTable(t, probes, found, lacks)
	}
}

// allProbes is set by `make probes`. Without it only the sets that a server has
// by default are measured, which takes seconds in place of minutes.
const allProbes = "CLOCHE_PROBES"

func everySet() bool { return os.Getenv(allProbes) == "all" || os.Getenv(writeDocs) != "" }

// quickSet is what is measured without make probes.
func quickSet(s probeSet) bool { return s.name == "all" }

// measureProbes runs in the helper process.
func measureProbes(t *testing.T, probes []probe) findings {
	w := newWorld(t)
	found := findings{}
	if w.who == asUser && everySet() { // first: New changes this process for good
		found.add(w.control(t, probes))
	}
	for _, set := range probeSets {
		if !everySet() && !quickSet(set) {
			continue
		}
		if set.sole && w.who == asUser && os.Getuid() != otherUID {
			continue // it would end all that the person who tests has running
		}
		found.add(w.measure(t, set, probes))
	}
	return found
}

// probeAsAll starts a helper process for each person, side by side.
func probeAsAll(t *testing.T, all []person) findings {
	t.Helper()
	found := findings{}
	var outputs []*bytes.Buffer
	var helpers []*exec.Cmd
	for _, p := range all {
		cmd, output := p.command(t), &bytes.Buffer{}
		cmd.Env = append(cmd.Env, probesOut+"="+filepath.Join(cmd.Dir, "found.json"))
		cmd.Stdout, cmd.Stderr = output, output
		helpers, outputs = append(helpers, cmd), append(outputs, output)
	}
	for i, cmd := range helpers {
		if err := cmd.Start(); err != nil {
			t.Fatalf("as %s: %v", all[i].who, err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill() })
	}
	for i, cmd := range helpers {
		if err := cmd.Wait(); err != nil {
			t.Fatalf("as %s: %v\n%s", all[i].who, err, outputs[i])
		}
		var more findings
		if err := json.Unmarshal([]byte(readText(filepath.Join(cmd.Dir, "found.json"))), &more); err != nil {
			t.Fatalf("as %s: %v", all[i].who, err)
		}
		found.add(more)
	}
	return found
}

// judge compares what a probe answered with what its header says. Where the
// machine is less than the headers speak of, only this is sure: with the filter,
// what should hold holds. What can be seen depends on the means that there are.
func (p probe) judge(t *testing.T, cells map[string]string, lacks []string) {
	t.Helper()
	for _, cell := range slices.Sorted(maps.Keys(cells)) {
		got, want := p.verdict(cells[cell]), p.want[cell]
		switch {
		case got == want || want == either && got != broken:
		case got == broken:
			t.Errorf("%s, %s: %s", p.name, cell, cells[cell])
		case len(lacks) == 0 || got == passed && !p.exposure() && filteredCell(cell) && !slices.Contains(lacks, noSeccomp):
			t.Errorf("%s, %s: %s; the header says %s", p.name, cell, cells[cell], want)
		default:
			t.Logf("NOT COMPARED: %s, %s: %s; this machine has %s", p.name, cell, cells[cell], strings.Join(lacks, ", "))
		}
	}
}

func filteredCell(cell string) bool {
	name, _, _ := strings.Cut(cell, "/")
	at := slices.IndexFunc(probeSets, func(s probeSet) bool { return s.name == name })
	return at >= 0 && probeSets[at].filtered()
}

const noSeccomp = "no seccomp"

// machineLacks lists why the headers, and the table in docs, cannot be held
// against this machine to the letter.
func machineLacks() []string {
	var lacks []string
	note := func(missing bool, what string) {
		if missing {
			lacks = append(lacks, what)
		}
	}
	k, err := guard.ProbeKernel(childIdentity(0).dropTo())
	note(err != nil || !k.Has(guard.FeatureSeccomp), noSeccomp)
	note(err != nil || !k.Has(guard.FeatureMount), "no mount namespaces")
	note(k.Landlock != tableABI, "another Landlock ABI")
	note(os.Geteuid() != 0, "no root for this test")
	note(runtime.GOARCH != "amd64", "another processor")
	note(!strings.Contains(readText("/proc/self/status"), "\nSeccomp:\t0\n"), "a syscall filter around the test")
	for _, setting := range []struct {
		path string
		free []string // what lets an ordinary user do what the probes try
	}{
		{"/proc/sys/kernel/yama/ptrace_scope", []string{"0"}},
		{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", []string{"0"}},
		{"/proc/sys/kernel/io_uring_disabled", []string{"0"}},
		{"/proc/sys/kernel/perf_event_paranoid", []string{"-1", "0", "1", "2"}},
		{"/sys/fs/selinux/enforce", []string{"0"}},
	} {
		text := strings.TrimSpace(readText(setting.path))
		note(text != "" && !slices.Contains(setting.free, text), setting.path+" at "+text)
	}
	return lacks
}

// tableABI is the Landlock ABI that the headers speak of where only Landlock
// holds.
const tableABI = 7

func readText(path string) string {
	text, _ := os.ReadFile(path)
	return string(text)
}
