package sandbox

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"cloche/internal/snippet"
)

// packetSize is above the largest packet that the job channel carries (about
// 200 kB, the default of net.core.wmem_default).
const packetSize = 1 << 18

// report is the child's word about how the snippet ended.
type report struct {
	End          string           `json:"end"`
	ExitCode     int              `json:"exit_code"`
	Value        *string          `json:"value"`
	Error        *snippet.Failure `json:"error"`
	Refused      snippet.Reason   `json:"refused"`
	Memory       bool             `json:"memory"`
	Disk         bool             `json:"disk"`
	BlockedCount int              `json:"blocked_count"`
}

// newToken is what a packet must begin with to be heard. Only the child's
// harness is told it, so bytes that a snippet writes to descriptors at random
// end nothing.
func newToken() []byte {
	var raw [16]byte
	_, _ = rand.Read(raw[:]) // never fails (crypto/rand)
	return []byte(hex.EncodeToString(raw[:]))
}

// inbox sorts the packets of one run.
type inbox struct {
	token    []byte
	packets  int // all that came, empty and foreign ones too
	refusals []snippet.Refusal
	report   *report
}

// mostPackets is far above what the child's harness sends: each of the first
// refusals, and the report. More is a snippet that floods the channel, which it
// has to look for first.
const mostPackets = 4 * snippet.MaxRefusals

// flooded reports whether a snippet floods the channel.
func (in *inbox) flooded() bool { return in.packets > mostPackets }

// tell notes the flood among the refusals, and returns the reason for the end.
func (in *inbox) tell() snippet.Reason {
	flood := snippet.Refusal{Rule: snippet.OperationDenied, Target: "flooding the sandbox's own channel", File: "<snippet>"}
	in.refusals = append(in.refusals[:min(len(in.refusals), snippet.MaxRefusals-1)], flood)
	return flood.Rule
}

// mostEmpty is above the number of empty packets that the channel can hold: once
// the other end is closed, a longer row of them is the end, which reads the same.
const mostEmpty = 1 << 10

// receive takes one packet from the channel, past empty ones, which anybody who
// has the descriptor can send. It is false when there is none: at the end of the
// channel, which must be known to be closed by then, or for now.
func (in *inbox) receive(fd int, buf []byte, closed bool) bool {
	for range mostEmpty {
		n, _, err := unix.Recvfrom(fd, buf, unix.MSG_DONTWAIT)
		switch {
		case n > 0:
			in.packets++
			in.take(buf[:n])
			return true
		case err != nil && err != unix.EINTR:
			return false
		case !closed:
			in.packets++
		}
		if in.flooded() {
			return false
		}
	}
	return false
}

// take handles one packet; what is malformed or has no token is dropped.
func (in *inbox) take(packet []byte) {
	rest, ok := bytes.CutPrefix(packet, in.token)
	if !ok || len(rest) == 0 || in.report != nil {
		return
	}
	switch rest[0] {
	case 'B':
		in.takeRefusal(rest[1:])
	case 'R':
		in.takeReport(rest[1:])
	}
}

func (in *inbox) takeRefusal(text []byte) {
	var r snippet.Refusal
	if len(in.refusals) >= snippet.MaxRefusals || json.Unmarshal(text, &r) != nil || r.Rule.Outcome() != snippet.Blocked {
		return
	}
	r.Target, r.File = name(r.Target), name(r.File)
	r.Line = line(r.Line)
	in.refusals = append(in.refusals, r)
}

// takeReport takes no words for the usual end, which would be half of the time
// that reading them takes.
func (in *inbox) takeReport(text []byte) {
	r := report{End: endCompleted}
	if len(text) > 0 && json.Unmarshal(text, &r) != nil {
		return
	}
	r.bound()
	in.report = &r
}

// How the child says that a snippet ended, in report.End.
const (
	endCompleted = "completed"
	endException = "exception"
	endSyntax    = "syntax_error"
)

// Bounds on what the child says in numbers and names.
const (
	maxTarget   = 250             // characters of a name
	maxLine     = snippet.MaxCode // a file has no more lines than bytes
	maxRefusals = 1_000_000_000
)

// name is a name for one line of text: short and without control characters.
func name(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, clip(s, maxTarget))
}

// line is a line number, nil if it cannot be one.
func line(n *int) *int {
	if n == nil || *n < 1 || *n > maxLine {
		return nil
	}
	return n
}

// bound holds the child's word to the contract's caps: the child is not trusted
// to have kept them.
func (r *report) bound() {
	r.ExitCode &= 0xFF
	if r.ExitCode == 0 && (r.End == endException || r.End == endSyntax || r.Memory || r.Disk) {
		r.ExitCode = 1
	}
	r.BlockedCount = min(max(r.BlockedCount, 0), maxRefusals)
	if r.Value != nil {
		v := clip(*r.Value, snippet.MaxValue)
		r.Value = &v
	}
	if r.Refused.Outcome() != snippet.Blocked {
		r.Refused = ""
	}
	if e := r.Error; e != nil {
		e.Type, e.Line = name(e.Type), line(e.Line)
		e.Message = clip(e.Message, snippet.MaxMessage)
		e.Traceback = clip(e.Traceback, snippet.MaxTraceback)
	}
}

func clip(s string, chars int) string {
	if len(s) <= chars || utf8.RuneCountInString(s) <= chars {
		return s
	}
	return firstRunes(s, chars)
}
