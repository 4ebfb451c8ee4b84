//go:build linux

package guard

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// A seccomp filter is a classic-BPF program over struct seccomp_data. Only
// the opcodes below are used: they are the ones that the kernel can also
// evaluate ahead of time, so that a call which needs no look at its arguments
// skips the program altogether (seccomp(2); kernel/seccomp.c,
// seccomp_is_const_allow, since Linux 5.11).
const (
	opLoad    = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	opAnd     = unix.BPF_ALU | unix.BPF_AND | unix.BPF_K
	opJump    = unix.BPF_JMP | unix.BPF_JA
	opEqual   = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	opAtLeast = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
	opReturn  = unix.BPF_RET | unix.BPF_K
)

// Offsets in struct seccomp_data: int nr, __u32 arch, __u64
// instruction_pointer, __u64 args[6] (linux/seccomp.h).
const (
	offNumber = 0
	offArch   = 4
	offArgs   = 16
)

// farthest is the longest conditional jump: its offset is one byte.
const farthest = 255

// block is a run of instructions. Every path through a finished block ends in
// a return, so blocks can be laid one behind the other.
type block []unix.SockFilter

func load(offset uint32) unix.SockFilter { return unix.SockFilter{Code: opLoad, K: offset} }

func and(mask uint32) unix.SockFilter { return unix.SockFilter{Code: opAnd, K: mask} }

func ret(v verdict) unix.SockFilter { return unix.SockFilter{Code: opReturn, K: uint32(v)} }

func equal(value uint32, yes, no int) unix.SockFilter {
	return unix.SockFilter{Code: opEqual, Jt: short(yes), Jf: short(no), K: value}
}

// short narrows a jump. The planner's blocks are far below the bound; a rule
// that outgrows it is a fault in a table, and a wrapped jump would be a hole.
func short(distance int) uint8 {
	if distance < 0 || distance > farthest {
		panic("guard: a rule is too long for a conditional jump")
	}
	return uint8(distance)
}

// low and high are the offsets of an argument's two words; both of our
// architectures are little-endian.
func low(arg int) uint32 { return offArgs + 8*uint32(arg) }

func high(arg int) uint32 { return low(arg) + 4 }

// split sends values of at least bound to above and the rest to below.
func split(bound uint32, below, above block) block {
	head := block{{Code: opAtLeast, Jt: 0, Jf: 1, K: bound}, {Code: opJump, K: uint32(len(below))}}
	if len(below) <= farthest {
		head = block{{Code: opAtLeast, Jt: uint8(len(below)), K: bound}}
	}
	return append(append(head, below...), above...)
}

// encode lays the program out as the kernel reads it: an array of struct
// sock_filter (linux/filter.h) in native, here little-endian, order.
func encode(program block) []byte {
	out := make([]byte, 0, len(program)*unix.SizeofSockFilter)
	for _, in := range program {
		out = binary.LittleEndian.AppendUint16(out, in.Code)
		out = append(out, in.Jt, in.Jf)
		out = binary.LittleEndian.AppendUint32(out, in.K)
	}
	return out
}
