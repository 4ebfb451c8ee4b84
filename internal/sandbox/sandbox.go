// Package sandbox runs one snippet at a time in a confined, single-use Python
// child and says what came of it. It keeps a template interpreter that has
// loaded the library once, and a few forked children that wait, already
// confined and warm, for a job.
//
// New changes the process that calls it, for good: it becomes undumpable, so
// that no process of the same user can read its memory or environment, and the
// reaper of orphans among its descendants.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"cloche/internal/guard"
	"cloche/internal/snippet"
)

// Config says how a Sandbox is built. The zero value is usable.
type Config struct {
	Python   string       // executable; "" finds one
	Workers  int          // children that wait for a job; 0 means one per core and at least 4
	WorkBase string       // folder for the runs' folders; "" means the system's temporary folder
	Require  []string     // names of layers (LayerNames) without which New fails; nil requires none
	Preload  []string     // modules to load once for all runs besides the standard library; AutoPreload alone: those of the usual ones that load; nil: none
	Sole     bool         // every process of the snippets' user here belongs to this sandbox: a container or a microVM
	Log      *slog.Logger // nil means slog.Default()

	weaken weaken // for tests
}

// weaken takes layers away, so that tests can show what the others hold.
type weaken struct {
	guard    bool     // no import policy and no audit hook
	landlock int      // the highest Landlock ABI to use, if abiCut is set
	abiCut   bool     //
	refuse   []string // kernel features that count as refused
	uid      int      // who snippets run as when the server is root; 0 means ownUID
}

// from applies it to what the kernel answered.
func (w weaken) from(k guard.Kernel) guard.Kernel {
	if w.abiCut {
		k.Landlock = min(k.Landlock, w.landlock)
	}
	for _, feature := range w.refuse {
		k.Refused[feature] = "taken away for a test"
		if feature == guard.FeatureLandlock {
			k.Landlock = 0
		}
	}
	return k
}

// Bounds on waiting for a child: how long a run waits before it is refused, and
// how long a worker rests after a failure and after a success.
const (
	childWait   = 5 * time.Second
	workerRest  = 100 * time.Millisecond
	longestRest = 5 * time.Second
	refillRest  = time.Millisecond
)

// Sandbox is a running template interpreter with its waiting children. It is
// safe for concurrent use.
type Sandbox struct {
	log       *slog.Logger
	python    interpreter
	layers    layers
	base      string
	baseLock  sync.Mutex
	lock      *os.File // holds the lock on base
	weaken    weaken
	packages  packages
	home      string // of the template while it loads packages; "" without any
	boot      []byte
	turn      sync.Mutex          // where runs may leave processes: one run at a time
	temporary map[string][]string // what the temporary folders held at the start

	ready   chan *child
	current chan *template // always offers the living template, if there is one
	stop    chan struct{}
	workers sync.WaitGroup
	broom   *broom
	listing listing
}

// New finds Python, starts the template interpreter and returns once it is
// ready to fork. The error says what a person can do about it.
func New(cfg Config) (*Sandbox, error) {
	s := &Sandbox{
		log: cfg.Log, weaken: cfg.weaken,
		ready: make(chan *child), current: make(chan *template), stop: make(chan struct{}),
	}
	if s.log == nil {
		s.log = slog.Default()
	}
	var err error
	if s.packages, err = planPreload(cfg.Preload); err != nil {
		return nil, err
	}
	id := childIdentity(cfg.weaken.uid)
	if s.python, err = findPython(context.Background(), cfg.Python, id); err != nil {
		return nil, err
	}
	kernel, err := guard.ProbeKernel(id.dropTo())
	if err != nil {
		return nil, err
	}
	s.layers = choose(cfg.weaken.from(kernel), id, cfg.Sole)
	if err := s.layers.check(cfg.Require); err != nil {
		return nil, err
	}
	if s.base, s.lock, err = openBase(cfg.WorkBase); err != nil {
		return nil, err
	}
	if err := s.layers.identity.reaches(s.base); err != nil {
		return nil, errors.Join(err, removeBase(s.base), s.lock.Close())
	}
	s.broom = newBroom(s.log)
	if err := s.start(cfg.Workers); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.tell()
	return s, nil
}

// tell writes to the log what holds and what does not.
func (s *Sandbox) tell() {
	s.log.Info("sandbox ready", "python", s.python.Version, "executable", s.python.Executable,
		"files", s.layers.wall, "landlock_abi", s.layers.kernel.Landlock, "seccomp", s.layers.seccomp,
		"uid", s.layers.identity.uid, "work_base", s.base, "preloaded", s.packages.loaded)
	for _, l := range s.layers.report() {
		if !l.Active && (l.Name != LayerMount || s.layers.wall != wallLandlock) {
			s.log.Warn("isolation layer is off", "layer", l.Name, "detail", l.Detail)
		}
	}
}

func (s *Sandbox) start(workers int) error {
	if s.layers.prctl {
		if err := protectSelf(); err != nil {
			return err
		}
	}
	if s.layers.forks() {
		workers, s.temporary = 1, listTemporary()
	}
	first, err := s.firstTemplate()
	if err != nil {
		return err
	}
	if workers <= 0 {
		workers = max(4, runtime.NumCPU())
	}
	child, err := s.spawn(first) // a machine that cannot make one must not look ready
	if err != nil {
		first.kill()
		return fmt.Errorf("make a child: %w", err)
	}
	s.workers.Add(workers + 1)
	go s.keep(first)
	go func() {
		if s.offer(child) {
			s.supply()
		} else {
			s.workers.Done()
		}
	}()
	for range workers - 1 {
		go s.supply()
	}
	return nil
}

// protectSelf keeps the server's memory and environment from processes of the
// same user, and makes it the reaper of its descendants (prctl(2)).
func protectSelf() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("become undumpable: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become subreaper: %w", err)
	}
	return nil
}

func (s *Sandbox) spec() guard.Spec {
	limits := snippet.DefaultLimits()
	spec := guard.Spec{
		Parent: os.Getpid(), Python: s.python.Executable,
		ReadTrees: append(s.python.ReadTrees, zoneTrees()...), ReadFiles: s.python.ReadFiles,
		RunTrees: s.python.RunTrees, WriteFiles: []string{"/dev/null"}, WorkBase: s.base,
		Policy: guardPolicy(defaultPolicy), Preload: preload, ThreadStack: 1 << 20,
		Packages: s.packages.names, MustLoad: s.packages.must, Home: s.home,
		OpenFiles: uint64(limits.OpenFiles), FileBytes: uint64(limits.FolderBytes), Seccomp: s.layers.seccomp,
		Prctl: s.layers.prctl, Pidfd: s.layers.pidfd, NoGuard: s.weaken.guard,
	}
	spec.ReadFiles = append(spec.ReadFiles, "/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")
	spec.UID, spec.GID = s.layers.identity.dropTo()
	switch s.layers.wall {
	case wallLandlock:
		plan := guard.PlanLandlock(s.layers.kernel.Landlock)
		spec.Landlock = &plan
	case wallMount:
		spec.MountRoot = mountRoot(s.base)
		// Debian's shared libraries for linear algebra are found through links in there.
		spec.RunTrees = append([]string{"/etc/alternatives"}, spec.RunTrees...)
	}
	return spec
}

// keep offers the living template to the workers and starts a new one when it
// dies.
func (s *Sandbox) keep(t *template) {
	defer s.workers.Done()
	rest := workerRest
	for {
		select {
		case s.current <- t:
		case <-s.stop:
			t.kill()
			s.broom.sweep(t.reapOrphans)
			return
		case <-t.done:
			s.log.Error("template interpreter died; starting another")
			s.broom.sweep(t.reapOrphans)
			for t = s.restart(); t == nil; t = s.restart() {
				if !s.rest(rest) {
					return
				}
				rest = min(2*rest, longestRest)
			}
			rest = workerRest
		}
	}
}

func (s *Sandbox) restart() *template {
	t, err := s.startTemplate()
	if err != nil {
		s.log.Error("start template interpreter", "error", err.Error())
		return nil
	}
	return t
}

// rest waits; it is false when the sandbox closes meanwhile.
func (s *Sandbox) rest(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-s.stop:
		return false
	}
}

// supply makes one child after the other and holds each until a run takes it.
func (s *Sandbox) supply() {
	defer s.workers.Done()
	for {
		select {
		case t := <-s.current:
			if !s.supplyFrom(t) {
				return
			}
		case <-s.stop:
			return
		}
	}
}

// supplyFrom is false when the sandbox closes.
func (s *Sandbox) supplyFrom(t *template) bool {
	c, err := s.spawnInTurn(t)
	if err != nil {
		if t.alive() && !s.closing() {
			s.log.Error("make child", "error", err.Error())
			s.mendBase(t)
		}
		return s.rest(workerRest)
	}
	return s.offer(c)
}

// offer holds a child until a run takes it. It is false when the sandbox closes.
func (s *Sandbox) offer(c *child) bool {
	select {
	case s.ready <- c:
		// A short run is over before the next child is made: they would share cores.
		return s.rest(refillRest)
	case <-c.template.done:
		s.discard(c)
		return true
	case <-s.stop:
		s.discard(c)
		return false
	}
}

// mendBase makes the work base anew when somebody removed it. The template's
// file wall is about the old folder, so it has to go.
func (s *Sandbox) mendBase(t *template) {
	s.baseLock.Lock()
	defer s.baseLock.Unlock()
	if _, err := os.Lstat(s.base); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return
	}
	lock, err := makeBase(s.base)
	if err != nil {
		s.log.Error("make work base again", "error", err.Error())
		return
	}
	s.log.Error("the work base was removed; made again", "work_base", s.base)
	_ = s.lock.Close()
	s.lock = lock
	t.kill()
}

// spawnInTurn makes a child between runs where a run may leave processes, so
// that no waiting child is alive beside one.
func (s *Sandbox) spawnInTurn(t *template) (*child, error) {
	if s.layers.forks() {
		s.turn.Lock()
		defer s.turn.Unlock()
	}
	return s.spawn(t)
}

func (s *Sandbox) closing() bool {
	select {
	case <-s.stop:
		return true
	default:
		return false
	}
}

// discard ends a child and leaves nothing of it: in the background, unless the
// machine may be frozen after the answer.
func (s *Sandbox) discard(c *child) {
	c.kill()
	task := func() {
		c.dead()
		c.release()
		s.broom.remove(c.dir)
	}
	if s.layers.forks() {
		task()
		return
	}
	s.broom.sweep(task)
}

// take returns a waiting child, or ErrUnavailable.
func (s *Sandbox) take(ctx context.Context) (*child, error) {
	if s.layers.forks() {
		return s.takeOrMake(ctx)
	}
	late := time.NewTimer(childWait)
	defer late.Stop()
	select {
	case c := <-s.ready:
		return c, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-late.C:
		return nil, fmt.Errorf("%w: no child got ready within %s", snippet.ErrUnavailable, childWait)
	case <-s.stop:
		return nil, fmt.Errorf("%w: the sandbox is closed", snippet.ErrUnavailable)
	}
}

// takeOrMake is take for the holder of the turn, whom no worker can serve
// meanwhile.
func (s *Sandbox) takeOrMake(ctx context.Context) (*child, error) {
	late := time.NewTimer(childWait)
	defer late.Stop()
	select {
	case c := <-s.ready:
		return c, nil
	default:
	}
	select {
	case t := <-s.current:
		c, err := s.spawn(t)
		if err != nil {
			err = fmt.Errorf("%w: %w", snippet.ErrUnavailable, err)
		}
		return c, err
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-late.C:
		return nil, fmt.Errorf("%w: the template interpreter did not get ready within %s", snippet.ErrUnavailable, childWait)
	case <-s.stop:
		return nil, fmt.Errorf("%w: the sandbox is closed", snippet.ErrUnavailable)
	}
}

// Close ends every process and removes every folder of the sandbox. Runs in
// flight end as sandbox failures.
func (s *Sandbox) Close() error {
	close(s.stop)
	s.workers.Wait()
	s.broom.wait()
	return errors.Join(removeBase(s.base), s.lock.Close())
}
