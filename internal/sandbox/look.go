package sandbox

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"cloche/internal/procfs"
	"cloche/internal/sandbox/workdir"
	"cloche/internal/snippet"
)

// tick is how often the limits that the kernel does not keep are looked at.
const tick = 10 * time.Millisecond

// pageTables is how many bytes of the kernel's memory may describe a run's own. The
// limit on address space does not count them, and mappings far from each other take
// a page or more each; what a run may have takes about a five hundredth of it.
const pageTables = 32 << 20

// Bounds on what looking may cost, beside a snippet that makes it dear.
const (
	countRest = 4                     // times as long as a count took, until the next one
	weighRest = 2                     // times as long as a weighing took, while the snippet is still stopped
	stopTime  = 20 * time.Millisecond // for all threads to stop; who does not is in the kernel, in one call
)

// look keeps the limits of a run that the kernel does not: what its folders hold,
// with files that have no name any more, and its threads. It looks every tick. What
// a usual look costs does not depend on the snippet: the number of threads, and the
// most that can have been written since the folders were weighed. Only when that
// might be too much are they weighed, and then the snippet stands still.
//
// It runs beside the loop that waits for the child, so that no deadline waits for
// it. A run over a limit, or one that cannot be looked at, is killed.
type look struct {
	child  *child
	limits snippet.Limits

	timer     *time.Timer
	cancelled atomic.Bool

	mu      sync.Mutex // held while it looks
	process *procfs.Process
	weighed int64         // bytes in the folders when they were weighed
	written int64         // and what had been written until then
	counted time.Duration // processor time when the entries were counted
	again   time.Time     // when they may be counted again
	misses  int           // looks in a row that found no process
	broken  snippet.Reason
	fault   error
}

// looking starts with the first tick: most runs are over by then.
func (r *run) looking() *look {
	l := &look{child: r.child, limits: r.job.Limits, weighed: r.inputs.room(r.job.Request.Files)}
	l.mu.Lock() // a look that is due at once waits until its timer is known
	defer l.mu.Unlock()
	l.timer = time.AfterFunc(tick, l.turn)
	return l
}

// end stops looking. It returns whether there was a look, and what was found: the
// limit that is broken, or why nobody can say.
func (l *look) end() (looked bool, broken snippet.Reason, fault error) {
	l.cancelled.Store(true)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timer.Stop()
	l.process.Close()
	return l.process != nil || l.fault != nil, l.broken, l.fault
}

// turn is one look, and arranges the next one.
func (l *look) turn() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cancelled.Load() {
		return
	}
	broken, err := snippet.Reason(""), error(nil)
	l.child.layers.identity.looking(func() { broken, err = l.once() })
	switch {
	case l.cancelled.Load():
	case errors.Is(err, procfs.ErrGone) && l.misses < mostMisses:
		l.misses++ // it is dead, and the loop that waits for it will say so; or a thread ended meanwhile
		l.timer.Reset(tick)
	case err != nil:
		l.fault = fmt.Errorf("look at the run: %w", err)
		l.child.kill()
	case broken != "":
		l.broken = broken
		l.child.kill()
	default:
		l.misses = 0
		l.timer.Reset(tick)
	}
}

// mostMisses is how many looks in a row may find nothing.
const mostMisses = 100

// once returns the limit that is broken, or "".
func (l *look) once() (snippet.Reason, error) {
	if l.process == nil {
		var err error
		if l.process, err = procfs.Open(l.child.pid); err != nil {
			return "", err
		}
	}
	threads, err := l.process.Threads()
	if err != nil {
		return "", err
	}
	if threads > l.limits.Threads {
		return snippet.ThreadLimit, nil
	}
	tables, err := l.process.PageTables()
	if err != nil {
		return "", err
	}
	if tables > pageTables {
		return snippet.MemoryLimit, nil
	}
	if !l.child.layers.accounts() {
		return l.count()
	}
	full, err := l.mayBeFull()
	switch {
	case err != nil:
		return "", err
	case full:
		return l.weigh()
	}
	if broken, err := l.count(); broken != "" || err != nil {
		return broken, err
	}
	full, err = l.mayBeFull() // a count of many entries takes its time
	if full {
		return l.weigh()
	}
	return "", err
}

// mayBeFull reports whether the folders can hold too much by now.
func (l *look) mayBeFull() (bool, error) {
	written, err := l.process.Written()
	return l.weighed+written-l.written > l.limits.FolderBytes, err
}

// count looks at the number of files and folders, unless the child has not run.
// Where a run may have other processes, whose writing nobody counts, it adds up
// the sizes too.
func (l *look) count() (snippet.Reason, error) {
	start := time.Now()
	ran := cpuClock(l.child.pid)
	if start.Before(l.again) || ran != 0 && ran == l.counted && !l.child.layers.forks() {
		return "", nil
	}
	w := workdir.Walk{Entries: l.limits.FolderEntries, Sizes: l.child.layers.forks(), Cancelled: l.haste}
	sum, err := w.Of(l.child.work(), l.child.tmp())
	l.counted, l.again = ran, time.Now().Add(countRest*time.Since(start))
	return l.judge(sum.Bytes, err)
}

// haste ends a count for what is more urgent: the end of the run, or a weighing. A
// fault of this look is met by the next.
func (l *look) haste() bool {
	if l.cancelled.Load() || !l.child.layers.accounts() {
		return l.cancelled.Load()
	}
	full, err := l.mayBeFull()
	return full || err != nil
}

// weigh adds up what the folders hold, and the files that the process keeps
// without a name. The child is stopped meanwhile: else it could move its files
// behind the walk, or write on.
func (l *look) weigh() (snippet.Reason, error) {
	start := time.Now()
	l.child.signal(unix.SIGSTOP)
	defer l.child.signal(unix.SIGCONT)
	if err := l.awaitStop(); err != nil {
		return "", err
	}
	written, err := l.process.Written()
	if err != nil {
		return "", err
	}
	w := workdir.Walk{Entries: l.limits.FolderEntries, Sizes: true, Cancelled: l.cancelled.Load}
	sum, err := w.Of(l.child.work(), l.child.tmp())
	if err == nil && sum.Bytes <= l.limits.FolderBytes {
		err = l.nameless(&sum.Bytes)
	}
	l.weighed, l.written = sum.Bytes, written
	broken, err := l.judge(sum.Bytes, err)
	if broken == "" && err == nil {
		l.pause(weighRest * time.Since(start))
	}
	return broken, err
}

// judge tells a broken limit from a look that failed.
func (l *look) judge(bytes int64, err error) (snippet.Reason, error) {
	switch {
	case errors.Is(err, workdir.ErrCancelled):
		return "", nil
	case errors.Is(err, workdir.ErrDeep), errors.Is(err, workdir.ErrMany):
		return snippet.DiskLimit, nil
	case err == nil && bytes > l.limits.FolderBytes:
		return snippet.DiskLimit, nil
	}
	return "", err
}

// nameless adds the files that the process keeps without a name. One whose size
// nobody tells counts as all that there may be.
func (l *look) nameless(bytes *int64) error {
	device, libraries, err := l.child.template.nameless(l.child.work())
	if err != nil {
		return err
	}
	return l.process.Nameless(device, l.cancelled.Load, func(inode uint64, size int64) {
		switch {
		case libraries[inode]:
		case size == procfs.Unknown:
			*bytes += l.limits.FolderBytes + 1
		default:
			*bytes += size
		}
	})
}

// awaitStop waits until no thread of the child runs any more.
func (l *look) awaitStop() error {
	for end := time.Now().Add(stopTime); time.Now().Before(end) && !l.cancelled.Load(); time.Sleep(100 * time.Microsecond) {
		if stopped, err := l.process.Stopped(); stopped || err != nil {
			return err
		}
	}
	return nil
}

// pause lets the snippet pay for a weighing: it stands still until that is a small
// part of the time.
func (l *look) pause(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end) && !l.cancelled.Load(); {
		time.Sleep(min(time.Until(end), time.Millisecond))
	}
}
