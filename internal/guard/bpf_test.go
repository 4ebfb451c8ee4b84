//go:build linux

package guard

import (
	"encoding/binary"
	"testing"

	"golang.org/x/sys/unix"
)

// call is one system call as a filter sees it.
type call struct {
	arch   uint32
	number uint32
	args   [6]uint64
}

// data lays the call out as struct seccomp_data.
func (c call) data() []byte {
	out := make([]byte, 0, 64)
	out = binary.LittleEndian.AppendUint32(out, c.number)
	out = binary.LittleEndian.AppendUint32(out, c.arch)
	out = binary.LittleEndian.AppendUint64(out, 0xfeedface) // instruction_pointer
	for _, a := range c.args {
		out = binary.LittleEndian.AppendUint64(out, a)
	}
	return out
}

// interpret runs an encoded program over one call, with the kernel's meaning
// of each opcode, and returns the verdict and the number of steps.
func interpret(t *testing.T, program []byte, c call) (verdict, int) {
	t.Helper()
	data := c.data()
	var acc uint32
	for pc, steps := 0, 1; ; pc, steps = pc+1, steps+1 {
		if pc*8+8 > len(program) {
			t.Fatalf("call %d: program runs off its end at %d", c.number, pc)
		}
		in := program[pc*8 : pc*8+8]
		k := binary.LittleEndian.Uint32(in[4:])
		switch code := binary.LittleEndian.Uint16(in); code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			acc = binary.LittleEndian.Uint32(data[k:])
		case unix.BPF_ALU | unix.BPF_AND | unix.BPF_K:
			acc &= k
		case unix.BPF_JMP | unix.BPF_JA:
			pc += int(k)
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			pc += branch(acc == k, in)
		case unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K:
			pc += branch(acc >= k, in)
		case unix.BPF_RET | unix.BPF_K:
			return verdict(k), steps
		default:
			t.Fatalf("instruction %d: opcode %#x is not one of ours", pc, code)
		}
	}
}

func branch(taken bool, in []byte) int {
	if taken {
		return int(in[2])
	}
	return int(in[3])
}

// stacked is the kernel's rule for two filters: the newer one is asked first,
// and the older one wins only with a stricter action (kernel/seccomp.c,
// seccomp_run_filters). Actions are ordered as signed numbers.
func stacked(newer, older verdict) verdict {
	action := func(v verdict) int32 { return int32(uint32(v) & unix.SECCOMP_RET_ACTION_FULL) }
	if action(older) < action(newer) {
		return older
	}
	return newer
}

// program assembles a policy for an architecture or fails the test.
func program(t *testing.T, goarch string, p policy) []byte {
	t.Helper()
	out, err := assemble(goarch, p)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestSplitReachesBeyondAShortJump(t *testing.T) {
	long := make(block, 0, 400)
	for range 200 {
		long = append(long, load(offNumber), and(everyBit))
	}
	below := append(long, ret(refused))
	bytes := encode(append(block{load(offNumber)}, split(7, below, block{ret(allowed)})...))
	for number, want := range map[uint32]verdict{6: refused, 7: allowed, 8: allowed} {
		if got, _ := interpret(t, bytes, call{number: number}); got != want {
			t.Errorf("number %d: %#x, want %#x", number, got, want)
		}
	}
}

func TestPlanRefusesFaultyTables(t *testing.T) {
	for name, entries := range map[string][]entry{
		"unknown name": same(allowed, "no_such_call"),
		"listed twice": same(allowed, "read", "write", "read"),
	} {
		if _, err := plan(archs["amd64"], policy{entries: entries, otherwise: refused}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := assemble("riscv64", templatePolicy()); err == nil {
		t.Error("riscv64: no error")
	}
}
