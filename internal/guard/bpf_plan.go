//go:build linux

package guard

import (
	"cmp"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"
)

// x32Bit marks the x32 entry of x86-64, a second numbering of the same calls
// under the same arch value (seccomp(2), notes). No number of ours reaches it.
const x32Bit = 0x40000000

// span is a run of numbers, from first to the next span's first, that share
// one rule.
type span struct {
	first uint32
	rule  rule
}

// plan turns a policy into a program for one architecture: the arch word, the
// x32 bit, then a balanced search for the number, then the rule of the number.
// It is pure, so every architecture's program can be tested on any host.
func plan(a arch, p policy) (block, error) {
	spans, err := spansOf(a, p)
	if err != nil {
		return nil, err
	}
	head := block{
		load(offArch), equal(a.audit, 1, 0), ret(killProcess),
		load(offNumber),
	}
	program := append(head, split(x32Bit, search(spans), block{ret(killProcess)})...)
	if len(program) > unix.BPF_MAXINSNS {
		return nil, fmt.Errorf("filter for %s: %d instructions, over %d", a.name, len(program), unix.BPF_MAXINSNS)
	}
	return program, nil
}

// search halves the spans until one is left.
func search(spans []span) block {
	if len(spans) == 1 {
		return spans[0].rule.assemble()
	}
	mid := len(spans) / 2
	return split(spans[mid].first, search(spans[:mid]), search(spans[mid:]))
}

// spansOf numbers the policy's names, fills the gaps with the default and
// joins neighbours that need no look at the arguments and say the same.
func spansOf(a arch, p policy) ([]span, error) {
	numbered, err := resolve(a, p)
	if err != nil {
		return nil, err
	}
	fallback := rule{otherwise: p.otherwise}
	var spans []span
	next := uint32(0)
	for _, s := range numbered {
		if s.first > next {
			spans = join(spans, span{next, fallback})
		}
		spans = join(spans, s)
		next = s.first + 1
	}
	return join(spans, span{next, fallback}), nil
}

func join(spans []span, s span) []span {
	if n := len(spans); n > 0 && spans[n-1].rule.same(s.rule) {
		return spans
	}
	return append(spans, s)
}

// resolve finds the numbers and sorts by them. A name that this architecture
// never had is left out; a name unknown everywhere, or given twice, is a fault
// in the table.
func resolve(a arch, p policy) ([]span, error) {
	var out []span
	seen := map[string]bool{}
	for _, e := range p.entries {
		n, known := numbers[e.name]
		if !known || seen[e.name] {
			return nil, fmt.Errorf("filter for %s: %q is unknown or listed twice", a.name, e.name)
		}
		seen[e.name] = true
		if nr := a.number(n); nr != absent {
			out = append(out, span{uint32(nr), e.rule})
		}
	}
	slices.SortFunc(out, func(x, y span) int { return cmp.Compare(x.first, y.first) })
	return out, nil
}
