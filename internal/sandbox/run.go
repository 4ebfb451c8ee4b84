package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"cloche/internal/guard"
	"cloche/internal/snippet"
)

// handTries bounds how many children that died while they waited one run meets.
const handTries = 10

// Run runs the job's snippet once. Whatever the snippet does is in the Result. An
// error means that nothing ran: snippet.ErrUnavailable when no child could be
// had, snippet.FieldErrors when this machine cannot offer what is asked, or
// ctx's own. A caller that leaves later ends the run, which is then
// snippet.Abandoned. The request must be valid (snippet.Validate).
func (s *Sandbox) Run(ctx context.Context, job snippet.Job) (snippet.Result, error) {
	if err := s.layers.offers(job.Request); err != nil {
		return snippet.Result{}, err
	}
	if s.layers.forks() {
		s.turn.Lock()
		defer s.turn.Unlock()
	}
	s.running.Add(1)
	defer s.running.Add(-1)
	s.makeRoom()
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	r := &run{job: job, buf: *buf}
	if err := s.begin(ctx, r); err != nil {
		return snippet.Result{}, err
	}
	defer s.discard(r.child)
	return r.finish(ctx, s), nil
}

// begin hands the job to a child. When it fails, nothing ran.
func (s *Sandbox) begin(ctx context.Context, r *run) error {
	var err error
	for range handTries {
		if r.child, err = s.take(ctx); err != nil {
			return err
		}
		if err = r.begin(); err == nil {
			return nil
		}
		s.discard(r.child)
		if !errors.Is(err, errNotHandedOver) {
			break
		}
	}
	return fmt.Errorf("%w: %w", snippet.ErrUnavailable, err)
}

// buffers are as large as the largest packet; a fresh one for each run would
// cost more than the run's own work.
var buffers = sync.Pool{New: func() any { b := make([]byte, packetSize); return &b }}

// run is one job in one child.
type run struct {
	child  *child
	job    snippet.Job
	inbox  inbox
	inputs inputs

	buf       []byte    // for everything that is read from the child
	open      []int     // its streams that are not at their end
	listening bool      // whether they are waited for
	listen    time.Time // when they are again

	start          time.Time
	cpuBefore      time.Duration
	stdout, stderr *capture
}

// extra is what few jobs bring, at the end of the first line of the job packet,
// as JSON: decoding it would be a fifth of the time that a short run takes.
type extra struct {
	Policy  *guard.Policy `json:"policy"`  // null for the one that children start with
	Modules []string      `json:"modules"` // top-level modules among the input files
}

// head is the first line of the job packet; the code follows it. The child sets
// the limits itself, since the parent may not: prlimit(2) of another user's
// process needs CAP_SYS_RESOURCE, which containers do not have. They come with
// the job, so that a waiting child holds no tenant's policy, and before the
// first line of user code.
func (r *run) head() ([]byte, error) {
	memory, tasks := r.child.template.size+r.job.Limits.Memory, 0
	switch {
	case r.child.layers.namespace:
		tasks = r.job.Limits.Threads + 1 // the one too many ends the run when it is seen
	case r.child.layers.countsByUser():
		// The server's own count too if it is the same user.
		tasks = tasksOf(r.child.layers.identity.uid) + r.job.Limits.Threads
	}
	head := fmt.Appendf(nil, "%s %d %d %d ", r.inbox.token, memory, cpuSeconds(r.timeout()), tasks)
	more := extra{ownPolicy(r.job.Policy), r.inputs.modules()}
	if more.Policy == nil && len(more.Modules) == 0 {
		return head, nil
	}
	text, err := json.Marshal(more)
	if err != nil {
		return nil, fmt.Errorf("encode job: %w", err)
	}
	return append(head, text...), nil
}

// begin prepares everything and hands the job over. When it fails, nothing ran.
func (r *run) begin() error {
	c, request := r.child, r.job.Request
	r.inbox = inbox{token: newToken()}
	r.stdout, r.stderr = newCapture(r.job.Limits.StdoutChars), newCapture(r.job.Limits.StderrChars)
	var err error
	if r.inputs, err = c.stage(request.Files); err != nil {
		return err
	}
	if err := c.stdin.fill(request.Stdin); err != nil {
		return err
	}
	packet, err := r.packet()
	if err != nil {
		return err
	}
	r.cpuBefore = cpuClock(c.pid)
	r.start = time.Now()
	return c.handOver(packet)
}

func (r *run) timeout() time.Duration { return r.job.Request.Timeout }

func (r *run) packet() ([]byte, error) {
	head, err := r.head()
	return append(append(head, '\n'), r.job.Request.Code...), err
}

var defaultPolicy = snippet.DefaultPolicy()

// ownPolicy is the policy to send with a job, nil for the one that children
// start with.
func ownPolicy(p snippet.Policy) *guard.Policy {
	if p.Mode == defaultPolicy.Mode && slices.Equal(p.Rules, defaultPolicy.Rules) {
		return nil
	}
	own := guardPolicy(p)
	return &own
}

func guardPolicy(p snippet.Policy) guard.Policy {
	rules := make(map[string]string, len(p.Rules))
	for _, rule := range p.Rules {
		rules[rule.Module] = rule.Reason
	}
	return guard.Policy{Mode: string(p.Mode), Rules: rules}
}

// finish watches the child to its end and makes the verdict.
func (r *run) finish(ctx context.Context, s *Sandbox) snippet.Result {
	stop := r.child.killWhenDone(ctx)
	look := r.looking()
	end := r.watch()
	looked, broken, fault := look.end()
	stop()
	end.found(broken, fault)
	if ctx.Err() != nil && end.report == nil {
		end.limit, end.fault = snippet.Abandoned, nil
	}
	r.child.kill()
	if s.layers.forks() {
		end.fault = errors.Join(end.fault, s.cleanUp(r.child, end))
	}
	r.drain()
	left, fault := r.survey(&end, looked)
	end.found("", fault)
	result := r.verdict(end)
	r.collect(&result, left)
	if result.Reason == snippet.SandboxFailure {
		s.log.Error("sandbox failure", "id", r.job.ID, "error", end.fault.Error())
	}
	return result
}

// cleanUp ends what the run left, where it could leave something, before the
// answer is given. A template that a run could reach does not serve another one
// after a run that made processes or had to be stopped.
func (s *Sandbox) cleanUp(c *child, end ending) error {
	var undead error
	if !c.awaitDeath(deathTime) {
		undead = errNotDead
	}
	dirty, err := s.sweep(c.template)
	err = errors.Join(undead, err)
	if dirty || end.report == nil || undead != nil {
		c.template.kill()
	}
	if s.layers.sole {
		s.emptyTemporary()
	}
	return err
}

// ending is how a run ended, as seen from outside.
type ending struct {
	report   *report        // the child's word; nil if it said nothing
	exit     *exit          // how it died by itself; nil if it did not
	limit    snippet.Reason // the limit that ended it; "" if none did
	fault    error          // why the sandbox cannot say; nil if it can
	duration time.Duration
	cpu      time.Duration
	peak     int64 // bytes
}

// found adds what was found by looking. A fault counts even if the run was over by
// then: what nobody could look at may have been broken. So does a limit, unless the
// deadline came first; what the child said of itself is of no interest any more.
func (e *ending) found(broken snippet.Reason, fault error) {
	if e.fault = errors.Join(e.fault, fault); e.limit == "" && broken != "" {
		e.limit, e.report = broken, nil
	}
}

// errNoWord means that a child died and nobody can say how.
var errNoWord = errors.New("the child died and its end was not reported")

// lull is how long the streams are left alone after they were read, and at
// first. A pipe holds what a snippet writes meanwhile, so a print costs it no
// more than its own call, and a short run wakes nobody before its report.
const lull = time.Millisecond

// watch is the whole life of a running child: one loop that reads what it writes
// and hears what it says. It ends with the report, the child's death, which a
// limit may have brought, or the deadline.
func (r *run) watch() ending {
	deadline := r.start.Add(r.timeout())
	r.open, r.listen = []int{r.child.stdout, r.child.stderr}, r.start.Add(lull)
	for {
		now := time.Now()
		if !now.Before(deadline) {
			return r.measure(ending{limit: snippet.Deadline})
		}
		dead, err := r.attend(now, deadline)
		switch {
		case err != nil:
			return r.measure(ending{fault: fmt.Errorf("wait for the child: %w", err)})
		case r.inbox.flooded():
			return r.measure(ending{limit: r.inbox.tell()})
		case r.inbox.report != nil:
			return r.measure(ending{report: r.inbox.report})
		case dead:
			return r.died()
		}
	}
}

// attend waits until the child does something, or until the deadline, and takes
// what there is. It reports whether the child is dead.
func (r *run) attend(now, deadline time.Time) (dead bool, err error) {
	next := deadline
	if !r.listening && now.Before(r.listen) {
		next = earlier(deadline, r.listen)
	} else if !r.listening {
		if err := r.listenAgain(); err != nil {
			return false, err
		}
	}
	ready, err := r.await(now, next, deadline)
	for _, event := range ready {
		switch fd := int(event.Fd); fd {
		case r.child.job:
			dead = r.hear(event.Events) && r.child.pidfd < 0 || dead
		case r.child.pidfd:
			dead = true
		case r.child.stdout:
			err = errors.Join(err, r.read(fd, r.stdout))
		case r.child.stderr:
			err = errors.Join(err, r.read(fd, r.stderr))
		}
	}
	return dead, err
}

// await waits for the child, until next or the deadline. The deadline is kept
// exactly, the other only roughly.
func (r *run) await(now, next, deadline time.Time) ([]unix.EpollEvent, error) {
	if left := deadline.Sub(now); left < 2*roughly {
		return r.child.events.waitExactly(left)
	}
	return r.child.events.wait(earlier(next, deadline.Add(-roughly)).Sub(now))
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// listenAgain waits for what the streams bring, from now on.
func (r *run) listenAgain() error {
	r.listening = true
	for _, fd := range r.open {
		if err := r.child.events.again(fd); err != nil {
			return err
		}
	}
	return nil
}

// read takes what a stream holds; at its end it is not asked again.
func (r *run) read(fd int, into *capture) error {
	r.listening, r.listen = false, time.Now().Add(lull)
	n, err := unix.Read(fd, r.buf)
	if n > 0 {
		_, _ = into.Write(r.buf[:n])
		return nil
	}
	if err == unix.EAGAIN || err == unix.EINTR {
		return nil
	}
	r.open = slices.DeleteFunc(r.open, func(other int) bool { return other == fd })
	return r.child.events.remove(fd)
}

// hear takes one packet of the job channel, and reports whether that is at its
// end; then it is not asked again.
func (r *run) hear(events uint32) bool {
	closed := events&(unix.EPOLLHUP|unix.EPOLLERR) != 0
	if r.inbox.receive(r.child.job, r.buf, closed) || !closed {
		return false
	}
	_ = r.child.events.remove(r.child.job)
	return true
}

// measure reads the clocks while the child still exists.
func (r *run) measure(e ending) ending {
	e.duration = time.Since(r.start)
	e.cpu = max(cpuClock(r.child.pid)-r.cpuBefore, 0)
	if e.peak = readStatusNumber(r.child.status, "VmHWM") * 1024; e.peak == 0 { // its first thread has left alone
		e.peak = taskStatusNumber(livingTask(r.child.pid), "VmHWM") * 1024
	}
	return e
}

// died makes the ending of a child that died by itself.
func (r *run) died() ending {
	e := ending{duration: time.Since(r.start)}
	if r.child.pidfd < 0 {
		r.child.kill() // it closed its job channel; that may be all that it did
	}
	for r.inbox.report == nil && r.inbox.receive(r.child.job, r.buf, true) {
		continue // its last words may still lie in the channel
	}
	e.report = r.inbox.report
	last, known := r.child.awaitExit()
	if !known {
		e.fault = errNoWord
		return e
	}
	e.exit, e.cpu, e.peak = &last, max(last.cpu-r.cpuBefore, 0), last.peak
	return e
}

// drain reads what the streams still hold: at most what two pipes can carry.
func (r *run) drain() {
	for _, stream := range []struct {
		fd   int
		into *capture
	}{{r.child.stdout, r.stdout}, {r.child.stderr, r.stderr}} {
		for read := 0; read < 1<<20; {
			n, err := unix.Read(stream.fd, r.buf)
			if err == unix.EINTR {
				continue
			}
			if n <= 0 {
				break
			}
			_, _ = stream.into.Write(r.buf[:n])
			read += n
		}
	}
}
