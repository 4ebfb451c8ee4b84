package sandbox

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// capture keeps the head and the tail of a stream and counts all of it. Its
// memory is bounded whatever is written: a character has at most four bytes, so
// 4*chars bytes at either end hold everything that text can show.
type capture struct {
	chars int
	total int64
	head  []byte
	tail  []byte // the last bytes after head, as a ring
	next  int    // where the ring goes on
	full  bool   // the ring has wrapped
}

func newCapture(chars int) *capture { return &capture{chars: chars} }

// Write never fails: what does not fit is counted and left out.
func (c *capture) Write(p []byte) (int, error) {
	n := len(p)
	c.total += int64(n)
	if room := 4*c.chars - len(c.head); room > 0 {
		take := min(room, len(p))
		c.head = append(c.head, p[:take]...)
		p = p[take:]
	}
	if len(p) > 0 {
		c.ring(p)
	}
	return n, nil
}

func (c *capture) ring(p []byte) {
	if c.tail == nil {
		c.tail = make([]byte, 4*c.chars)
	}
	size := len(c.tail)
	if len(p) >= size {
		copy(c.tail, p[len(p)-size:])
		c.next, c.full = 0, true
		return
	}
	n := copy(c.tail[c.next:], p)
	if n < len(p) {
		copy(c.tail, p[n:])
		c.full = true
	}
	c.next += len(p)
	if c.next >= size {
		c.next, c.full = c.next-size, true
	}
}

// text returns at most chars characters, and whether anything was left out.
func (c *capture) text() (string, bool) {
	if c.tail == nil {
		whole := valid(c.head)
		if utf8.RuneCountInString(whole) <= c.chars {
			return whole, false
		}
		return cut(whole, whole, c.chars, c.total), true
	}
	last := c.tail[:c.next]
	if c.full {
		last = append(append([]byte{}, c.tail[c.next:]...), c.tail[:c.next]...)
		last = skipContinuation(last)
	}
	// The ring begins where head ends, so a character may lie across both.
	if !c.full {
		last = append(append([]byte{}, c.head...), last...)
	}
	return cut(valid(c.head), valid(last), c.chars, c.total), true
}

// cut joins the beginning of head and the end of tail with a mark between them,
// at most chars characters in all.
func cut(head, tail string, chars int, total int64) string {
	mark := fmt.Sprintf("\n[... %d bytes in all, the middle is left out ...]\n", total)
	room := chars - utf8.RuneCountInString(mark)
	if room < 2 {
		return firstRunes(head, chars)
	}
	return firstRunes(head, room-room/2) + mark + lastRunes(tail, room/2)
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

func lastRunes(s string, n int) string {
	i := len(s)
	for ; n > 0 && i > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
	}
	return s[i:]
}

// skipContinuation drops the rest of a character whose beginning is gone.
func skipContinuation(p []byte) []byte {
	for i := 0; i < 3 && len(p) > 0 && !utf8.RuneStart(p[0]); i++ {
		p = p[1:]
	}
	return p
}

// valid replaces every byte that is not part of a character, one for one.
func valid(p []byte) string {
	if utf8.Valid(p) {
		return string(p)
	}
	var b strings.Builder
	for len(p) > 0 {
		r, size := utf8.DecodeRune(p)
		b.WriteRune(r)
		p = p[size:]
	}
	return b.String()
}
