package sandbox

import (
	"context"
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
	identity identity

	pidfd  int
	job    int // our end of the job channel
	stdin  int // a memfd that the job fills and seals
	stdout int // reading ends
	stderr int

	born chan birth
	exit chan exit
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
		template: t, identity: s.identity,
		pidfd: -1, job: -1, stdin: -1, stdout: -1, stderr: -1,
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
	dir, err := os.MkdirTemp(base, "run-")
	if err != nil {
		return fmt.Errorf("make run folder: %w", err)
	}
	c.dir = dir
	if err := os.Chmod(dir, 0o711); err != nil {
		return err
	}
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
	if !c.identity.drop() {
		return nil
	}
	return os.Lchown(path, c.identity.uid, c.identity.gid)
}

// beBorn opens the child's channels and has the template fork it.
func (c *child) beBorn() error {
	var theirs [3]int
	var err error
	open := []func() error{
		func() error { c.job, theirs[0], err = channel(); return err },
		func() error { c.stdout, theirs[1], err = pipe(); return err },
		func() error { c.stderr, theirs[2], err = pipe(); return err },
		func() error { c.stdin, err = newStdin(); return err },
	}
	theirs = [3]int{-1, -1, -1}
	defer func() { closeFDs(theirs[:]...) }()
	for _, step := range open {
		if err := step(); err != nil {
			return fmt.Errorf("open channels: %w", err)
		}
	}
	if err := c.template.request(c, theirs[0], c.stdin, theirs[1], theirs[2]); err != nil {
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

// kill ends the child at once. It makes no processes, so nothing else is left.
func (c *child) kill() {
	if c.pidfd >= 0 {
		_ = unix.PidfdSendSignal(c.pidfd, unix.SIGKILL, nil, 0)
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

// dead waits until no thread of the child can do anything any more.
func (c *child) dead() {
	if c.pidfd >= 0 {
		_, _ = pollFor([]unix.PollFd{{Fd: int32(c.pidfd), Events: unix.POLLIN}}, childStart)
	}
}

// release frees everything of a child that is dead or was never born.
func (c *child) release() {
	if c.pidfd >= 0 {
		// After the template's death its children are ours to reap.
		_ = unix.Waitid(unix.P_PIDFD, c.pidfd, nil, unix.WEXITED|unix.WNOHANG, nil)
	}
	closeFDs(c.pidfd, c.job, c.stdin, c.stdout, c.stderr)
	c.pidfd, c.job, c.stdin, c.stdout, c.stderr = -1, -1, -1, -1, -1
}

// handOver gives the child its job. An error means that it did not get it.
func (c *child) handOver(packet []byte) error {
	err := unix.Sendto(c.job, packet, unix.MSG_NOSIGNAL, nil)
	if err != nil {
		return fmt.Errorf("hand over the job: %w", err)
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
