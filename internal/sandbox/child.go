package sandbox

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// child is one confined interpreter. It waits for one job, runs it, and dies.
type child struct {
	template *template
	id       int
	pid      int
	dir      string // holds the folders work and tmp
	layers   layers

	pidfd  int // -1 where the kernel has none
	job    int // our end of the job channel
	stdin  stdin
	stdout int // reading ends
	stderr int

	born chan birth
	exit chan exit

	released bool // nobody takes from born any more; the template's lock guards it
}

// birth is the template's answer to a request.
type birth struct {
	pid    int
	fds    []int
	failed string
}

// exit is how a child ended, as the template that reaped it saw it.
type exit struct {
	status unix.WaitStatus
	cpu    time.Duration
	peak   int64
}

func (c *child) work() string { return filepath.Join(c.dir, "work") }
func (c *child) tmp() string  { return filepath.Join(c.dir, "tmp") }

// spawn makes a child and waits until it has confined itself.
func (s *Sandbox) spawn(t *template) (*child, error) {
	c := &child{
		template: t, layers: s.layers,
		pidfd: -1, job: -1, stdin: stdin{-1, -1}, stdout: -1, stderr: -1,
		born: make(chan birth, 1), exit: make(chan exit, 1),
	}
	if err := c.setUp(s.base); err != nil {
		s.discard(c)
		return nil, err
	}
	return c, nil
}

func (c *child) setUp(base string) error {
	if err := c.makeFolders(base); err != nil {
		return err
	}
	if err := c.beBorn(); err != nil {
		return err
	}
	return c.awaitReady()
}

func (c *child) makeFolders(base string) error {
	// Where no wall stands between the runs, the name is the wall: 128 bits that
	// nobody can list (the base is not readable) or guess.
	dir := filepath.Join(base, "run-"+rand.Text())
	if err := os.Mkdir(dir, 0o711); err != nil {
		return fmt.Errorf("make run folder: %w", err)
	}
	c.dir = dir
	for _, path := range []string{c.work(), c.tmp()} {
		if err := c.makeFolder(path); err != nil {
			return err
		}
	}
	return nil
}

// makeFolder makes a folder that belongs to the child.
func (c *child) makeFolder(path string) error {
	if err := os.Mkdir(path, 0o700); err != nil {
		return err
	}
	return c.own(path)
}

func (c *child) own(path string) error {
	id := c.layers.identity
	if !id.drop() {
		return nil
	}
	return os.Lchown(path, id.uid, id.gid)
}

// beBorn opens the child's channels and has the template fork it.
func (c *child) beBorn() error {
	var theirs [3]int
	var err error
	open := []func() error{
		func() error { c.job, theirs[0], err = channel(); return err },
		func() error { c.stdout, theirs[1], err = pipe(); return err },
		func() error { c.stderr, theirs[2], err = pipe(); return err },
		func() error { c.stdin, err = newStdin(c.layers.memfd, c.dir); return err },
		// The child alone is told its folders: the template would keep their names
		// in memory, where its later children could find them.
		func() error { return unix.Sendto(c.job, []byte(c.work()+"\x00"+c.tmp()), unix.MSG_NOSIGNAL, nil) },
	}
	theirs = [3]int{-1, -1, -1}
	defer func() { closeFDs(theirs[:]...) }()
	for _, step := range open {
		if err := step(); err != nil {
			return fmt.Errorf("open channels: %w", err)
		}
	}
	if err := c.template.request(c, theirs[0], c.stdin.theirs, theirs[1], theirs[2]); err != nil {
		return err
	}
	return c.awaitBirth()
}

func (c *child) awaitBirth() error {
	select {
	case b := <-c.born:
		if b.failed != "" {
			return fmt.Errorf("template: %s", b.failed)
		}
		c.pid = b.pid
		if len(b.fds) == 1 {
			c.pidfd = b.fds[0]
		} else if c.layers.pidfd {
			return errors.New("the child's pidfd did not arrive") // no descriptor was left for it
		}
		return nil
	case <-c.template.done:
		return errTemplateGone
	case <-time.After(childStart):
		c.template.kill() // it does not answer: nothing can be said about its children
		return errors.New("the template interpreter does not answer")
	}
}

// awaitReady waits for the child's word that every layer is in place.
func (c *child) awaitReady() error {
	fds := []unix.PollFd{{Fd: int32(c.job), Events: unix.POLLIN}}
	if n, err := pollFor(fds, childStart); err != nil || n == 0 {
		return errors.Join(errors.New("child did not get ready in time"), err)
	}
	buf := make([]byte, 1024)
	n, _, err := unix.Recvfrom(c.job, buf, unix.MSG_DONTWAIT)
	if err != nil || n <= 0 {
		return fmt.Errorf("child ended before it was ready: %w", errors.Join(errTemplateGone, err))
	}
	if word := string(buf[:n]); word != "ready" {
		return fmt.Errorf("child set-up: %s", strings.TrimPrefix(word, "failed "))
	}
	return nil
}

// kill ends the child at once. Without a pidfd its number is used, as long as
// the template has not said that it reaped it.
func (c *child) kill() {
	switch {
	case c.pidfd >= 0:
		_ = unix.PidfdSendSignal(c.pidfd, unix.SIGKILL, nil, 0)
	case c.pid > 0 && len(c.exit) == 0 && c.template.alive():
		_ = unix.Kill(c.pid, unix.SIGKILL)
	}
}

// awaitExit returns how the child ended once it is dead; false if the template
// died before it could say so.
func (c *child) awaitExit() (exit, bool) {
	select {
	case e := <-c.exit:
		return e, true
	default:
	}
	select {
	case e := <-c.exit:
		return e, true
	case <-c.template.done:
		return exit{}, false
	case <-time.After(childStart):
		return exit{}, false
	}
}

// dead waits until no thread of the child can do anything any more. Without a
// pidfd the end of its job channel says so: a process's descriptors are closed
// by its last thread.
func (c *child) dead() {
	switch {
	case c.pidfd >= 0:
		_, _ = pollFor([]unix.PollFd{{Fd: int32(c.pidfd), Events: unix.POLLIN}}, childStart)
	case c.pid > 0:
		_, _ = pollFor([]unix.PollFd{{Fd: int32(c.job), Events: unix.POLLRDHUP}}, childStart)
	}
}

// release frees everything of a child that is dead or was never born.
func (c *child) release() {
	// After the template's death its children are ours to reap; before, these
	// calls find no child of ours.
	switch {
	case c.pidfd >= 0:
		_ = unix.Waitid(unix.P_PIDFD, c.pidfd, nil, unix.WEXITED|unix.WNOHANG, nil)
	case c.pid > 0:
		_, _ = unix.Wait4(c.pid, nil, unix.WNOHANG, nil)
	}
	c.template.giveBack(c)
	c.stdin.close()
	closeFDs(c.pidfd, c.job, c.stdout, c.stderr)
	c.pid, c.pidfd, c.job, c.stdin, c.stdout, c.stderr = 0, -1, -1, stdin{-1, -1}, -1, -1
}

// errNotHandedOver means that a child died while it waited: nothing ran, and
// another child can have the job.
var errNotHandedOver = errors.New("the waiting child is gone")

// handOver gives the child its job. An error means that it did not get it.
func (c *child) handOver(packet []byte) error {
	err := unix.Sendto(c.job, packet, unix.MSG_NOSIGNAL, nil)
	if err != nil {
		return fmt.Errorf("%w: %w", errNotHandedOver, err)
	}
	return nil
}

// killWhenDone kills the child when ctx ends; the returned function ends the
// watch and must be called before release.
func (c *child) killWhenDone(ctx context.Context) (stop func()) {
	killed := make(chan struct{})
	cancel := context.AfterFunc(ctx, func() { c.kill(); close(killed) })
	return func() {
		if !cancel() {
			<-killed
		}
	}
}
