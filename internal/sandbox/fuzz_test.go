package sandbox

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"cloche/internal/snippet"
)

// FuzzReport hears packets that hostile code wrote, with the token and without:
// whatever they hold, the answer is one that the contract allows.
func FuzzReport(f *testing.F) {
	for _, seed := range []string{
		`tR{"end":"completed","exit_code":0,"value":"42","error":null,"refused":null,"memory":false,"disk":false,"blocked_count":0}`,
		`tB{"rule":"import_denied","target":"os","file":"<snippet>","line":1}` + "\n" +
			`tR{"end":"exception","exit_code":1,"error":{"type":"ImportError","message":"","line":1,"traceback":""},"refused":"import_denied","blocked_count":1}`,
		`tR{"end":"completed","exit_code":0,"memory":true}`,
		`tR{"refused":"operation_denied","exit_code":7,"blocked_count":99999999999}`,
		`tR{"end":"exception","exit_code":-1,"disk":true,"error":{"line":-1,"type":"\u0000\ud800"}}`,
		`tR`, `t`, ``, "tR{}\ntR{}", `tB{"rule":"deadline"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, packets []byte) {
		r := &run{
			child: &child{}, job: snippet.Job{ID: "x", Limits: snippet.DefaultLimits()}, inbox: inbox{token: []byte("t")},
			stdout: newCapture(10), stderr: newCapture(10),
		}
		for packet := range bytes.SplitSeq(packets, []byte("\n")) {
			r.inbox.take(packet)
		}
		if len(r.inbox.refusals) > snippet.MaxRefusals {
			t.Fatalf("%d refusals", len(r.inbox.refusals))
		}
		if r.inbox.report == nil {
			return
		}
		result := r.verdict(ending{report: r.inbox.report, duration: time.Millisecond})
		wellFormed(t, result)
		if result.BlockedCount < len(result.Blocked) || result.BlockedCount > maxRefusals || result.BlockedCount > 0 && len(result.Blocked) == 0 {
			t.Errorf("%d refusals, %d told", result.BlockedCount, len(result.Blocked))
		}
	})
}

// FuzzCapture writes a stream in pieces. What is kept is what a reader of the
// whole would cut out, and never longer than asked.
func FuzzCapture(f *testing.F) {
	for _, seed := range []string{"", "short", "ünïcödé ✓", "\xff\xfe\x80", strings.Repeat("0123456789", 60), strings.Repeat("é", 300), strings.Repeat("x", 399) + "\xf0\x9f\x98"} {
		f.Add([]byte(seed), 100, 7)
	}
	f.Fuzz(func(t *testing.T, stream []byte, chars, piece int) {
		if chars < 1 || chars > 1000 || piece < 1 {
			return
		}
		c := newCapture(chars)
		for part := range chunks(stream, piece) {
			if n, err := c.Write(part); n != len(part) || err != nil {
				t.Fatalf("wrote %d of %d: %v", n, len(part), err)
			}
		}
		got, truncated := c.text()
		whole := valid(stream)
		most := utf8.RuneCountInString(whole)
		switch {
		case c.total != int64(len(stream)):
			t.Errorf("counted %d of %d bytes", c.total, len(stream))
		case !utf8.ValidString(got):
			t.Errorf("not text: %q", got)
		case utf8.RuneCountInString(got) > chars:
			t.Errorf("%d characters, want at most %d", utf8.RuneCountInString(got), chars)
		case truncated != (most > chars):
			t.Errorf("truncated is %v for %d characters of %d", truncated, most, chars)
		case !truncated && got != whole:
			t.Errorf("%q, want %q", got, whole)
		case cap(c.head)+cap(c.tail) > 16*chars+1024:
			t.Errorf("holds %d bytes for %d characters", cap(c.head)+cap(c.tail), chars)
		}
		if truncated && utf8.Valid(stream) {
			if want := cut(whole, whole, chars, c.total); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
	})
}

// chunks yields p in pieces of at most n bytes.
func chunks(p []byte, n int) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for len(p) > 0 {
			k := min(n, len(p))
			if !yield(p[:k]) {
				return
			}
			p = p[k:]
		}
	}
}
