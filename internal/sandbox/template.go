package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"cloche/internal/guard"
)

// Bounds on the template's life. They are generous: a machine that is short of
// everything must still start.
const (
	templateStart = 20 * time.Second
	childStart    = 10 * time.Second
	controlPacket = 1 << 16 // bytes of one message on the control channel
)

// errTemplateGone means that the template interpreter died; its children die
// with it.
var errTemplateGone = errors.New("the template interpreter is gone")

// template is one life of the template interpreter.
type template struct {
	cmd     *exec.Cmd
	control int           // our end of the control channel
	size    int64         // bytes of address space when it was ready
	loaded  []string      // packages that it has loaded
	done    chan struct{} // closed when the process is dead

	mu       sync.Mutex
	next     int
	children map[int]*child // by id, until the template reported their end
}

// message is what the template says on the control channel.
type message struct {
	Ready  bool     `json:"ready"`
	Loaded []string `json:"loaded"` // with ready
	Failed string   `json:"failed"`
	ID     int      `json:"id"`
	PID    int      `json:"pid"`
	Status *int     `json:"status"`
	CPU    float64  `json:"cpu"`  // seconds
	Peak   int64    `json:"peak"` // bytes
}

// startTemplate returns a template that is ready to fork.
func (s *Sandbox) startTemplate() (*template, error) {
	removeHome, err := s.makeHome()
	if err != nil {
		return nil, err
	}
	defer removeHome()
	t, err := s.launch()
	if err != nil {
		return nil, fmt.Errorf("start template: %w", err)
	}
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
	bootRead, bootWrite, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, unix.Close(ours))
	}
	defer bootRead.Close()
	t := &template{control: ours, done: make(chan struct{}), children: map[int]*child{}}
	t.cmd = &exec.Cmd{
		Path: "/proc/self/exe", Args: guard.Argv(), Env: []string{}, Dir: "/",
		ExtraFiles:  []*os.File{control, bootRead},
		SysProcAttr: s.templateAttr(),
	}
	if err := t.startProcess(); err != nil {
		return nil, errors.Join(err, unix.Close(ours), bootWrite.Close())
	}
	go feed(bootWrite, s.boot)
	return t, nil
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
	m, fds, err := t.receive()
	closeFDs(fds...)
	switch {
	case err != nil:
		return fmt.Errorf("template: %w", err)
	case m.Failed != "":
		return fmt.Errorf("template set-up: %s", m.Failed)
	case !m.Ready:
		return errors.New("template: unexpected first message")
	}
	if n := threads(t.cmd.Process.Pid); n != 1 {
		return fmt.Errorf("template has %d threads; fork would keep only one", n)
	}
	t.loaded = m.Loaded
	t.size = statusBytes(t.cmd.Process.Pid, "VmSize")
	return nil
}

// listen hands the template's messages to the children they are about.
func (t *template) listen(log *slog.Logger) {
	defer t.hangUp()
	for {
		m, fds, err := t.receive()
		if err != nil {
			closeFDs(fds...)
			_ = t.cmd.Process.Kill() // a template that cannot be heard is of no use
			if !errors.Is(err, errTemplateGone) {
				log.Error("template channel", "error", err.Error())
			}
			return
		}
		t.deliver(m, fds)
	}
}

func (t *template) deliver(m message, fds []int) {
	t.mu.Lock()
	defer t.mu.Unlock() // the channels have room for the one message that each gets
	c := t.children[m.ID]
	if m.Status != nil || m.Failed != "" {
		delete(t.children, m.ID)
	}
	switch {
	case c == nil || c.released:
		closeFDs(fds...)
	case m.Status != nil:
		c.exit <- exit{unix.WaitStatus(*m.Status), time.Duration(m.CPU * float64(time.Second)), m.Peak}
	default:
		c.born <- birth{m.PID, fds, m.Failed}
	}
}

// giveBack closes what arrived for a child that nobody waits for any more, and
// has what still arrives closed as well.
func (t *template) giveBack(c *child) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c.released = true
	select {
	case b := <-c.born:
		closeFDs(b.fds...)
	default:
	}
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

func (t *template) receive() (message, []int, error) {
	var m message
	buf, oob := make([]byte, controlPacket), make([]byte, unix.CmsgSpace(4))
	n, oobn, _, _, err := unix.Recvmsg(t.control, buf, oob, unix.MSG_CMSG_CLOEXEC)
	for err == unix.EINTR {
		n, oobn, _, _, err = unix.Recvmsg(t.control, buf, oob, unix.MSG_CMSG_CLOEXEC)
	}
	if err != nil || n == 0 {
		return m, nil, errors.Join(errTemplateGone, err)
	}
	fds := receivedFDs(oob[:oobn])
	if err := json.Unmarshal(buf[:n], &m); err != nil {
		return m, fds, fmt.Errorf("decode message: %w", err)
	}
	return m, fds, nil
}

// request asks for a child. Exactly one birth follows, unless the template dies.
func (t *template) request(c *child, fds ...int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next++
	c.id = t.next
	text, err := json.Marshal(map[string]int{"id": c.id})
	if err != nil {
		return err
	}
	t.children[c.id] = c
	if err := unix.Sendmsg(t.control, text, unix.UnixRights(fds...), nil, unix.MSG_NOSIGNAL); err != nil {
		delete(t.children, c.id)
		return fmt.Errorf("ask template for a child: %w", err)
	}
	return nil
}

// hangUp closes the control channel; later requests fail.
func (t *template) hangUp() {
	t.mu.Lock()
	defer t.mu.Unlock()
	closeFDs(t.control)
	t.control = -1
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

// alive reports whether the template can still fork.
func (t *template) alive() bool {
	select {
	case <-t.done:
		return false
	default:
		return true
	}
}
