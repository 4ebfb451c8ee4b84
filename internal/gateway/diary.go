package gateway

import (
	"io"
	"sync"
)

// Diary is a log's writer that also keeps what was written last, so that a
// runner that may not write logs can send it along with its reply.
type Diary struct {
	out io.Writer

	mu   sync.Mutex
	kept []byte
}

// NewDiary makes a Diary that passes on everything to out.
func NewDiary(out io.Writer) *Diary { return &Diary{out: out} }

// Write keeps the end of what does not fit.
func (d *Diary) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.kept = append(d.kept, p...)
	if over := len(d.kept) - maxDiary; over > 0 {
		d.kept = append([]byte{}, d.kept[over:]...)
	}
	return d.out.Write(p)
}

// take returns what was kept, and forgets it.
func (d *Diary) take() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	kept := string(d.kept)
	d.kept = nil
	return kept
}
