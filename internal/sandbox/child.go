package sandbox

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"cloche/internal/procfs"
)

// child is one confined interpreter. It waits for one job, runs it, and dies.
type child struct {
	template *template
	id       int
	pid      int
	folders
	layers layers

	pidfd  int // -1 where the kernel has none
	status int // its /proc/PID/status, opened while it waits: -1 without
	job    int // our end of the job channel
	stdin  stdin
	stdout int // reading ends
	stderr int
	events *pollSet // of job, pidfd and, once a run listens to them, the streams

	born chan birth
	exit chan exit

	life   sync.Mutex // held to signal the child by its number
	reaped bool       // the number may be somebody else's
}

// birth is the template's answer to a request.
type birth struct {
	pid    int
	failed string
}

// exit is how a child ended, as the template that reaped it saw it.
type exit struct {
	status unix.WaitStatus
	cpu    time.Duration
	peak   int64
}

// spawn makes a child and waits until it has confined itself.
func (s *Sandbox) spawn(t *template) (*child, error) {
	c := &child{
		template: t, layers: s.layers,
		pidfd: -1, status: -1, job: -1, stdin: stdin{-1, -1}, stdout: -1, stderr: -1,
		born: make(chan birth, 1), exit: make(chan exit, 1),
	}
	if err := s.setUp(c); err != nil {
		s.discard(c)
		return nil, err
	}
	return c, nil
}

func (s *Sandbox) setUp(c *child) (err error) {
	if s.fitting(c.template) == nil {
		return errTemplateGone
	}
	if c.folders, err = s.giveFolders(); err != nil {
		return err
	}
	if err := c.beBorn(); err != nil {
		return err
	}
	if err := c.watch(); err != nil {
		return fmt.Errorf("watch the child: %w", err)
	}
	return c.awaitReady()
}

// watch prepares to wait for all that comes from the child, so that nothing of
// it can fail once a job runs.
func (c *child) watch() (err error) {
	if c.events, err = newPollSet(); err != nil {
		return err
	}
	return errors.Join(c.events.add(c.job), c.events.add(c.pidfd), c.events.addOnce(c.stdout), c.events.addOnce(c.stderr))
}

// beBorn opens the child's channels and has the template fork it.
func (c *child) beBorn() error {
	var theirs [4]int
	var err error
	open := []func() error{
		func() error { c.job, theirs[0], err = channel(); return err },
		func() error { c.stdout, theirs[1], err = c.outlet(); return err },
		func() error { c.stderr, theirs[2], err = c.outlet(); return err },
		func() error { c.stdin, err = newStdin(c.layers.memfd, c.dir); return err },
		// The child alone is told its folders: the template would keep their names
		// in memory, where its later children could find them.
		func() error { return unix.Sendto(c.job, []byte(c.work()+"\x00"+c.tmp()), unix.MSG_NOSIGNAL, nil) },
		func() error { theirs[3], err = c.template.ruleset(c.work(), c.tmp()); return err },
	}
	theirs = [4]int{-1, -1, -1, -1}
	defer func() { closeFDs(theirs[:]...) }()
	for _, step := range open {
		if err := step(); err != nil {
			return fmt.Errorf("open channels: %w", err)
		}
	}
	fds := []int{theirs[0], c.stdin.theirs, theirs[1], theirs[2]}
	if theirs[3] >= 0 {
		fds = append(fds, theirs[3])
	}
	if err := c.template.request(c, fds...); err != nil {
		return err
	}
	return c.awaitBirth()
}

// outlet is a pipe that the child may open again by name, as /dev/stdout.
func (c *child) outlet() (r, w int, err error) {
	if r, w, err = pipe(); err == nil && c.layers.identity.drop() {
		err = unix.Fchown(w, c.layers.identity.uid, c.layers.identity.gid)
	}
	return r, w, err
}

func (c *child) awaitBirth() error {
	select {
	case b := <-c.born:
		if b.failed != "" {
			return fmt.Errorf("template: %s", b.failed)
		}
		c.pid = b.pid
		c.status = openStatus(c.pid)
		if !c.layers.pidfd {
			return nil
		}
		var err error
		if c.pidfd, err = unix.PidfdOpen(c.pid, 0); err != nil {
			c.pidfd = -1
			return fmt.Errorf("open the child's pidfd: %w", err)
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
	if ready, err := c.events.wait(childStart); err != nil || len(ready) == 0 {
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

// kill ends the child at once.
func (c *child) kill() { c.signal(unix.SIGKILL) }

// signal sends the child a signal. Without a pidfd its number is used, as long as
// it is certain that it is the child's.
func (c *child) signal(signal unix.Signal) {
	c.life.Lock()
	defer c.life.Unlock()
	switch {
	case c.pidfd >= 0:
		_ = unix.PidfdSendSignal(c.pidfd, signal, nil, 0)
	case c.pid > 0 && !c.reaped && c.template.alive():
		_ = unix.Kill(c.pid, signal)
	}
}

// reap has the template take the end of the child, which must have been killed
// or be dead.
func (c *child) reap() {
	c.life.Lock()
	defer c.life.Unlock()
	if c.pid > 0 && !c.reaped {
		c.reaped = true
		c.template.reap(c)
	}
}

// awaitExit returns how the child ended once it is dead; false if the template
// died before it could say so.
func (c *child) awaitExit() (exit, bool) {
	c.reap()
	select {
	case e := <-c.exit:
		return e, true
	case <-c.template.done:
		return exit{}, false
	case <-time.After(childStart):
		return exit{}, false
	}
}

// gone reports whether that is so now.
func (c *child) gone() bool { return c.awaitDeath(0) }

// awaitDeath reports whether the child is dead within d. Without a pidfd the end
// of its job channel says so: a process's descriptors are closed by its last
// thread.
func (c *child) awaitDeath(d time.Duration) bool {
	end := unix.PollFd{Fd: int32(c.pidfd), Events: unix.POLLIN}
	if c.pidfd < 0 {
		end = unix.PollFd{Fd: int32(c.job), Events: unix.POLLRDHUP}
	}
	if c.pid == 0 {
		return true
	}
	n, _ := pollFor([]unix.PollFd{end}, d)
	return n > 0
}

// awaitEnd reports whether a killed child does nothing more within d. Where it can
// have no process beside itself it need not be dead for that: a snippet can make
// the kernel take long over giving memory back, and the answer does not wait for it.
func (c *child) awaitEnd(d time.Duration) bool {
	if c.pidfd < 0 || c.layers.forks() {
		return c.awaitDeath(d)
	}
	if c.awaitDeath(endTick) {
		return true
	}
	process, err := procfs.Open(c.pid)
	if err != nil {
		return c.awaitDeath(d)
	}
	defer process.Close()
	for end := time.Now().Add(d); time.Now().Before(end); {
		if exiting, err := process.Exiting(); exiting && err == nil || c.awaitDeath(endTick) {
			return true
		}
	}
	return false
}

// endTick is how often a killed child is asked whether it has ended.
const endTick = time.Millisecond

// release frees everything of a child that is dead or was never born.
func (c *child) release() {
	c.reap()
	// After the template's death its children are ours to reap; before, these
	// calls find no child of ours.
	switch {
	case c.pidfd >= 0:
		_ = unix.Waitid(unix.P_PIDFD, c.pidfd, nil, unix.WEXITED|unix.WNOHANG, nil)
	case c.pid > 0:
		_, _ = unix.Wait4(c.pid, nil, unix.WNOHANG, nil)
	}
	c.events.close()
	c.stdin.close()
	closeFDs(c.pidfd, c.status, c.job, c.stdout, c.stderr)
	c.pid, c.pidfd, c.status, c.job, c.stdin, c.stdout, c.stderr = 0, -1, -1, -1, stdin{-1, -1}, -1, -1
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
