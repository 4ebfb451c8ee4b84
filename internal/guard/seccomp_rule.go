//go:build linux

package guard

import (
	"slices"

	"golang.org/x/sys/unix"
)

// verdict is what a filter returns to the kernel (seccomp(2), "return value
// of the BPF program").
type verdict uint32

// refused is the answer to everything that a policy does not speak of. EPERM,
// not a signal: Python turns it into an exception that the snippet can report.
const (
	allowed     verdict = unix.SECCOMP_RET_ALLOW
	killProcess verdict = unix.SECCOMP_RET_KILL_PROCESS
	refused             = verdict(unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM))
	nothing             = verdict(unix.SECCOMP_RET_ERRNO) // answer 0, do nothing
	unknown             = verdict(unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS))
	unsupported         = verdict(unix.SECCOMP_RET_ERRNO | uint32(unix.EOPNOTSUPP))
)

// answer makes a call fail with an error of one's choice.
func answer(e unix.Errno) verdict { return verdict(unix.SECCOMP_RET_ERRNO | uint32(e)) }

// policy is a filter as a value: what each named call gets, and what the rest
// gets.
type policy struct {
	entries   []entry
	otherwise verdict
}

type entry struct {
	name string
	rule rule
}

// rule is the first clause that holds, else otherwise. The zero clauses make
// it a plain verdict.
type rule struct {
	clauses   []clause
	otherwise verdict
}

// clause holds if all of its tests hold.
type clause struct {
	tests []test
	then  verdict
}

// test looks at one argument: its high word must be zero and its low word,
// under mask, one of values. The kernel may use all 64 bits of an argument or
// only 32; with the high word pinned both readings are the same.
type test struct {
	arg    int
	mask   uint32
	values []uint32
}

const everyBit = ^uint32(0)

// is tests an argument against a set of values.
func is(arg int, values ...uint32) test { return test{arg, everyBit, values} }

// bits tests those bits of an argument that mask selects.
func bits(arg int, mask, value uint32) test { return test{arg, mask, []uint32{value}} }

// within tests that no bit outside of the given ones is set.
func within(arg int, these uint32) test { return bits(arg, ^these, 0) }

// same gives each name the same verdict, whatever its arguments.
func same(v verdict, names ...string) []entry {
	out := make([]entry, len(names))
	for i, n := range names {
		out[i] = entry{n, rule{otherwise: v}}
	}
	return out
}

// where allows a call in the given forms only.
func where(name string, forms ...[]test) entry {
	r := rule{otherwise: refused}
	for _, tests := range forms {
		r.clauses = append(r.clauses, clause{tests, allowed})
	}
	return entry{name, r}
}

// orElse gives what fits no form another answer than EPERM: one that callers
// take for a kernel without the feature.
func (e entry) orElse(v verdict) entry {
	e.rule.otherwise = v
	return e
}

// form is one way of calling: every test holds.
func form(tests ...test) []test { return tests }

func (r rule) plain() bool { return len(r.clauses) == 0 }

func (r rule) same(s rule) bool {
	return r.plain() && s.plain() && r.otherwise == s.otherwise
}

func (r rule) assemble() block {
	var out block
	for _, c := range r.clauses {
		out = append(out, c.assemble()...)
	}
	return append(out, ret(r.otherwise))
}

// assemble builds the clause back to front, since a failing test jumps over
// all that follows in it.
func (c clause) assemble() block {
	rest := block{ret(c.then)}
	for _, t := range slices.Backward(c.tests) {
		rest = append(t.assemble(len(rest)), rest...)
	}
	return rest
}

// assemble falls through if the test holds and jumps over rest instructions
// behind it if not.
func (t test) assemble(rest int) block {
	var tail block
	for i := range t.values {
		last := len(t.values) - 1 - i
		no := 0
		if last == 0 {
			no = rest
		}
		tail = append(tail, equal(t.values[i], last, no))
	}
	if t.mask != everyBit {
		tail = append(block{and(t.mask)}, tail...)
	}
	tail = append(block{load(low(t.arg))}, tail...)
	return append(block{load(high(t.arg)), equal(0, 0, len(tail)+rest)}, tail...)
}
