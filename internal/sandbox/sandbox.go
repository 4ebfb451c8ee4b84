// Package sandbox runs one snippet at a time in a confined, single-use Python
// child and says what came of it. It keeps a template interpreter that has
// loaded the library once, and a few forked children that wait, already
// confined and warm, for a job.
//
// New changes the process that calls it, for good: it becomes undumpable, so
// that no process of the same user can read its memory or environment, and the
// reaper of orphans among its descendants, and its GOMAXPROCS grows.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"cloche/internal/guard"
	"cloche/internal/snippet"
)

// Config says how a Sandbox is built. The zero value is usable.
type Config struct {
	Python   string       // executable; "" finds one
	Workers  int          // children that wait for a job; 0 means one per core and at least 4
	Burst    int          // how many more may wait for a moment after runs that found none; 0: none
	WorkBase string       // folder for the runs' folders; "" means the system's temporary folder
	Require  []string     // names of layers (LayerNames) without which New fails; nil requires none
	Preload  []string     // modules to load once for all runs besides the standard library; AutoPreload alone: those of the usual ones that load; nil: none
	Sole     bool         // every process of the snippets' user here belongs to this sandbox: a container or a microVM
	Log      *slog.Logger // nil means slog.Default()

	weaken weaken // for tests
	wear   wear   // 0 means usualWear
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

// Sandbox is a running template interpreter with its waiting children. It is
// safe for concurrent use.
type Sandbox struct {
	log       *slog.Logger
	python    interpreter
	layers    layers
	base      string
	baseLock  sync.Mutex
	bases     atomic.Int32 // how often the base was made again
	lock      *os.File     // holds the lock on base
	weaken    weaken
	packages  packages
	room      room   // for the tasks of all children
	home      string // of the template while it loads packages; "" without any
	wear      wear
	turning   atomic.Int32 // changes of template under way
	running   atomic.Int32 // runs under way
	ambling   atomic.Pointer[ambler]
	boot      []byte
	turn      sync.Mutex          // where runs may leave processes: one run at a time
	temporary map[string][]string // what the temporary folders held at the start

	ready   chan *child
	spare   chan folders   // untouched ones of dead children
	reused  atomic.Int64   // how often
	idle    *time.Timer    // clears them
	current chan *template // always offers the living template, if there is one
	stop    chan struct{}
	workers sync.WaitGroup
	broom   *broom
	listing listing

	helpLock             sync.Mutex
	helpers, mostHelpers int // workers that came in a rush

	complained atomic.Pointer[time.Time] // when last, of a child that was not made
}

// New finds Python, starts the template interpreter and returns once it is
// ready to fork. The error says what a person can do about it.
func New(cfg Config) (*Sandbox, error) {
	s := &Sandbox{
		log: cfg.Log, weaken: cfg.weaken, wear: cfg.wear,
		mostHelpers: cfg.Burst, ready: make(chan *child), spare: make(chan folders, mostSpare), current: make(chan *template), stop: make(chan struct{}),
	}
	if s.log == nil {
		s.log = slog.Default()
	}
	if s.wear == (wear{}) {
		s.wear = usualWear
	}
	s.listing.age = listAge
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
	if s.layers.forks() {
		s.wear = noWear
	}
	if err := s.layers.check(cfg.Require); err != nil {
		return nil, err
	}
	if err := s.makeRoomForTasks(cfg); err != nil {
		return nil, err
	}
	if s.base, s.lock, err = openBase(cfg.WorkBase); err != nil {
		return nil, err
	}
	if err := s.layers.identity.reaches(s.base); err != nil {
		return nil, errors.Join(err, removeBase(s.base), s.lock.Close())
	}
	s.broom = newBroom(s.log)
	s.idle = time.AfterFunc(spareTime, s.clearSpare)
	if err := s.start(workersOf(cfg)); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// makeRoomForTasks finds out how many tasks children may have, and warns where
// that is less than their limits promise.
func (s *Sandbox) makeRoomForTasks(cfg Config) error {
	s.room = findRoom(s.layers.identity)
	warning, err := s.room.check(workersOf(cfg)+cfg.Burst, snippet.DefaultLimits().Threads)
	if warning != "" {
		s.log.Warn("little room for threads", "detail", warning)
	}
	return err
}

func workersOf(cfg Config) int {
	if cfg.Workers > 0 {
		return cfg.Workers
	}
	return max(4, runtime.NumCPU())
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
	moreProcessors()
	if s.layers.prctl {
		if err := protectSelf(); err != nil {
			return err
		}
	}
	if s.layers.forks() {
		workers, s.mostHelpers, s.temporary = 1, 0, listTemporary()
	}
	first, err := s.firstTemplate()
	if err != nil {
		return err
	}
	child, err := s.spawn(first) // a machine that cannot make one must not look ready
	if err != nil {
		first.kill()
		return fmt.Errorf("make a child: %w", err)
	}
	s.tell()
	s.workers.Add(workers + 1)
	go s.keep(first)
	go func() {
		if s.offer(child, 0) {
			s.supply(0)
		} else {
			s.workers.Done()
		}
	}()
	for range workers - 1 {
		go s.supply(0)
	}
	return nil
}

// moreProcessors gives Go's scheduler twice as many processors and two. A
// goroutine in a system call, its own short ones or SQLite's, keeps its processor
// until it is taken away, which may take 10 ms (retake in runtime/proc.go);
// requests must not wait meanwhile.
var moreProcessors = sync.OnceFunc(func() { runtime.GOMAXPROCS(2*runtime.GOMAXPROCS(0) + 2) })

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
		Namespace: s.layers.namespace, Tasks: uint64(s.room.tasks), Prctl: s.layers.prctl, NoGuard: s.weaken.guard,
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

// Close ends every process and removes every folder of the sandbox. Runs in
// flight end as sandbox failures.
func (s *Sandbox) Close() error {
	s.helpLock.Lock()
	close(s.stop)
	s.helpLock.Unlock()
	s.workers.Wait()
	s.broom.wait()
	s.idle.Stop()
	return errors.Join(removeBase(s.base), s.lock.Close())
}
