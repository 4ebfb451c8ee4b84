package sandbox

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"cloche/internal/guard"
	"cloche/internal/procfs"
)

// Bounds on the template's life. They are generous: a machine that is short of
// everything must still start.
const (
	templateStart = 20 * time.Second
	childStart    = 10 * time.Second
	controlPacket = 1 << 15 // bytes of one message on the control channel
)

// errTemplateGone means that the template interpreter died; its children die
// with it.
var errTemplateGone = errors.New("the template interpreter is gone")

// template is one life of the template interpreter.
type template struct {
	cmd     *exec.Cmd
	control int           // our end of the control channel
	events  *pollSet      // of control
	size    int64         // bytes of address space when it was ready
	base    int32         // which of the sandbox's work bases it knows
	loaded  []string      // packages that it has loaded
	wall    *guard.Wall   // what all children may reach; nil without Landlock
	done    chan struct{} // closed when the process is dead
	leave   chan struct{} // asks who holds a waiting child to take one of a newer template

	buf [controlPacket]byte // for what it says

	mu       sync.Mutex
	next     int
	children map[int]*child // by id, until the template reported their end
}

// message is what the template says on the control channel: a kind, then what
// belongs to it, with spaces between.
type message struct {
	kind string // "ready MODULE...", "failed TEXT", "born ID PID", "unborn ID TEXT", "dead ID STATUS CPU PEAK", "alive ID"
	rest string
}

// startTemplate returns a template that is ready to fork. It starts slowly, beside
// the runs, until hurry is closed, and not at all once the sandbox closes.
func (s *Sandbox) startTemplate(hurry <-chan struct{}) (*template, error) {
	removeHome, err := s.makeHome()
	if err != nil {
		return nil, err
	}
	defer removeHome()
	t, err := s.launch()
	if err != nil {
		return nil, fmt.Errorf("start template: %w", err)
	}
	ready := make(chan struct{})
	defer close(ready)
	go func() {
		select {
		case <-s.stop:
			_ = t.cmd.Process.Kill()
		case <-ready:
		}
	}()
	s.amble(t, hurry)
	if err := t.awaitReady(); err != nil {
		t.kill()
		t.hangUp()
		return nil, err
	}
	go t.listen(s.log)
	return t, nil
}

// launch starts the process. When it returns only the process holds the other
// ends, so that its death is seen.
func (s *Sandbox) launch() (*template, error) {
	ours, theirs, err := channel()
	if err != nil {
		return nil, err
	}
	control := os.NewFile(uintptr(theirs), "control")
	defer control.Close()
	t := &template{control: ours, base: s.bases.Load(), done: make(chan struct{}), leave: make(chan struct{}), children: map[int]*child{}}
	if err := t.prepare(s.spec()); err != nil {
		t.hangUp()
		return nil, err
	}
	bootRead, bootWrite, err := os.Pipe()
	if err != nil {
		t.hangUp()
		return nil, err
	}
	defer bootRead.Close()
	t.cmd = &exec.Cmd{
		Path: "/proc/self/exe", Args: guard.Argv(), Env: []string{}, Dir: "/",
		ExtraFiles:  []*os.File{control, bootRead},
		SysProcAttr: s.templateAttr(),
	}
	if err := t.startProcess(); err != nil {
		t.hangUp()
		return nil, errors.Join(err, bootWrite.Close())
	}
	go feed(bootWrite, s.boot)
	return t, nil
}

// prepare makes what is needed to hear the template, and the wall of its children.
func (t *template) prepare(spec guard.Spec) (err error) {
	if t.events, err = newPollSet(); err != nil {
		return err
	}
	if err := t.events.add(t.control); err != nil {
		return err
	}
	t.wall, err = spec.ChildWall()
	return err
}

// templateAttr is how the template's process is made. Where prctl(2) is refused
// a death signal would make the start fail.
func (s *Sandbox) templateAttr() *syscall.SysProcAttr {
	attr := syscall.SysProcAttr{Setsid: true}
	if s.layers.prctl {
		attr.Pdeathsig = syscall.SIGKILL
	}
	if s.layers.wall == wallMount {
		attr.Cloneflags = unix.CLONE_NEWNS
	}
	return &attr
}

// startProcess starts it on a thread that stays, since the process dies with
// the thread that started it.
func (t *template) startProcess() error {
	started := make(chan error)
	go t.hold(started)
	return <-started
}

// templates are the living ones of every sandbox in this process, by process id.
var templates sync.Map

// hold starts the process and keeps its thread until the process is dead.
func (t *template) hold(started chan<- error) {
	runtime.LockOSThread() // never unlocked: Pdeathsig follows the thread (prctl(2))
	err := t.cmd.Start()
	if err == nil {
		templates.Store(t.cmd.Process.Pid, t)
	}
	started <- err
	if err == nil {
		_ = t.cmd.Wait()
		templates.Delete(t.cmd.Process.Pid)
		close(t.done)
	}
}

// feed writes the boot document; a template that died reads none of it.
func feed(w io.WriteCloser, boot []byte) {
	_, _ = w.Write(boot)
	_ = w.Close()
}

func (t *template) awaitReady() error {
	ready := []unix.PollFd{{Fd: int32(t.control), Events: unix.POLLIN}}
	if n, err := pollFor(ready, templateStart); err != nil || n == 0 {
		return errors.Join(errors.New("the template interpreter did not get ready in time"), err)
	}
	m, err := t.receive()
	switch {
	case err != nil:
		return fmt.Errorf("template: %w", err)
	case m.kind == "failed":
		return fmt.Errorf("template set-up: %s", m.rest)
	case m.kind != "ready":
		return errors.New("template: unexpected first message")
	}
	if n := threads(t.cmd.Process.Pid); n != 1 {
		return fmt.Errorf("template has %d threads; fork would keep only one", n)
	}
	t.loaded = strings.Fields(m.rest)
	t.size = statusBytes(t.cmd.Process.Pid, "VmSize")
	return nil
}

// listen hands the template's messages to the children they are about.
func (t *template) listen(log *slog.Logger) {
	defer t.hangUp()
	for {
		m, err := t.receive()
		if err == nil {
			err = t.deliver(m)
		}
		if err != nil {
			_ = t.cmd.Process.Kill() // a template that cannot be heard is of no use
			if !errors.Is(err, errTemplateGone) {
				log.Error("template channel", "error", err.Error())
			}
			return
		}
	}
}

// deliver never waits: the channels have room for the one message that each gets.
func (t *template) deliver(m message) error {
	var id int
	var b birth
	var e exit
	var err error
	switch m.kind {
	case "born":
		_, err = fmt.Sscan(m.rest, &id, &b.pid)
	case "unborn":
		number, text, _ := strings.Cut(m.rest, " ")
		b.failed = text
		id, err = strconv.Atoi(number)
	case "dead":
		_, err = fmt.Sscan(m.rest, &id, &e.status, &e.cpu, &e.peak)
	case "alive":
		id, err = strconv.Atoi(m.rest)
	default:
		err = errors.New("unknown kind")
	}
	if err != nil {
		return fmt.Errorf("message %q: %w", m.kind, err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.children[id]
	if m.kind == "unborn" || m.kind == "dead" {
		delete(t.children, id)
	}
	switch {
	case c == nil:
	case m.kind == "alive":
		time.AfterFunc(reapRest, func() { t.reap(c) })
	case m.kind == "dead":
		c.exit <- e
	default:
		c.born <- b
	}
	return nil
}

// made is how many children were asked of it.
func (t *template) made() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.next
}

// busy reports whether children of it are left.
func (t *template) busy() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.children) > 0
}

// pids are the processes that the template answers for: itself and its children.
func (t *template) pids() []int {
	t.mu.Lock()
	defer t.mu.Unlock()
	known := []int{t.cmd.Process.Pid}
	for _, c := range t.children {
		known = append(known, c.pid)
	}
	return known
}

func (t *template) receive() (message, error) {
	n, _, err := unix.Recvfrom(t.control, t.buf[:], unix.MSG_DONTWAIT)
	for err == unix.EAGAIN || err == unix.EINTR {
		if _, err := t.events.await(); err != nil {
			return message{}, errors.Join(errTemplateGone, err)
		}
		n, _, err = unix.Recvfrom(t.control, t.buf[:], unix.MSG_DONTWAIT)
	}
	if err != nil || n == 0 {
		return message{}, errors.Join(errTemplateGone, err)
	}
	kind, rest, _ := strings.Cut(string(t.buf[:n]), " ")
	return message{kind, rest}, nil
}

// request asks for a child. Exactly one birth follows, unless the template dies.
func (t *template) request(c *child, fds ...int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next++
	c.id = t.next
	t.children[c.id] = c
	if err := unix.Sendmsg(t.control, fmt.Appendf(nil, "fork %d", c.id), unix.UnixRights(fds...), nil, unix.MSG_NOSIGNAL); err != nil {
		delete(t.children, c.id)
		return fmt.Errorf("ask template for a child: %w", err)
	}
	return nil
}

// ruleset is the file wall of a child with these folders; -1 without Landlock.
// It is made here, since that is cheaper than in Python, and needs no right that
// the server lacks.
func (t *template) ruleset(folders ...string) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.control < 0:
		return -1, errTemplateGone
	case t.wall == nil:
		return -1, nil
	}
	return t.wall.Ruleset(folders...)
}

// reapRest is the time between two tries to take the end of a child that does not
// die at once.
const reapRest = 50 * time.Millisecond

// reap has the template take the end of a child that is dead, and say how it
// was. Until then the child's number is nobody else's. One that lives is asked
// about again: the template waits for none.
func (t *template) reap(c *child) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.children[c.id] == c {
		_ = unix.Sendto(t.control, fmt.Appendf(nil, "reap %d", c.id), unix.MSG_NOSIGNAL, nil)
	}
}

// hangUp closes what the server holds of the template; later requests fail.
func (t *template) hangUp() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.events.close()
	closeFDs(t.control)
	t.control = -1
	if t.wall != nil {
		t.wall.Close()
	}
}

// kill ends the template, and with it every child. It returns when it is dead.
func (t *template) kill() {
	_ = t.cmd.Process.Kill()
	<-t.done
}

// reapOrphans ends the children that came to us when the template died, and takes
// their end. Whoever knows a child does that too; nobody knows one that was being
// born. They are told by their session, which the template made.
func (t *template) reapOrphans() {
	for _, p := range processes() {
		if p.parent != os.Getpid() {
			continue
		}
		if session, err := unix.Getsid(p.pid); err == nil && session == t.cmd.Process.Pid {
			_ = unix.Kill(p.pid, unix.SIGKILL)
			_, _ = unix.Wait4(p.pid, nil, 0, nil)
		}
	}
}

// nameless says where files of runs are, and which files there all children have
// mapped although no folder names them any more: libraries that were replaced since
// the template started.
func (t *template) nameless(folder string) (device uint64, libraries map[uint64]bool, err error) {
	var st unix.Stat_t
	if err := unix.Stat(folder, &st); err != nil {
		return 0, nil, fmt.Errorf("look at the work folder: %w", err)
	}
	p, err := procfs.Open(t.cmd.Process.Pid)
	if err != nil {
		return 0, nil, fmt.Errorf("look at the template: %w", err)
	}
	defer p.Close()
	libraries = map[uint64]bool{}
	err = p.Nameless(st.Dev, func() bool { return false }, func(inode uint64, _ int64) { libraries[inode] = true })
	return st.Dev, libraries, err
}

// alive reports whether the template can still fork.
func (t *template) alive() bool {
	select {
	case <-t.done:
		return false
	default:
		return true
	}
}
