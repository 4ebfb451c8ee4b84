// Package guard is everything that happens on the child's side of the sandbox:
// the helper stage that drops privileges and execs Python, the kernel filters
// and file rules as data, and the Python source of the template interpreter and
// its children. It knows nothing of snippets or verdicts; internal/sandbox does.
package guard

import (
	"bytes"
	"embed"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"
)

//go:embed python/*.py
var sources embed.FS

// order is the load order of the Python modules; each may use those before it.
var order = []string{"kernel", "memory", "refusal", "imports", "audit", "verdict", "run", "packages", "warm", "child", "template"}

// Descriptors that a template process finds open.
const (
	controlFD = 3 // SOCK_SEQPACKET to the parent
	bootFD    = 4 // a pipe with what Boot returned
)

// Spec says what a template interpreter and its children are and may do.
type Spec struct {
	Parent      int           // process id of the parent; the template dies with it
	UID, GID    int           // identity to drop to; 0 keeps the current one
	Python      string        // the interpreter's executable
	ReadTrees   []string      // folders that children may read: Python's library
	ReadFiles   []string      // single files that children may read
	RunTrees    []string      // folders and files that the template may read and execute to start
	WriteFiles  []string      // device files that children may write
	WorkBase    string        // the folder that holds every child's own folders
	Policy      Policy        // what children start with; a job may bring another
	Preload     []string      // modules of the standard library to load before the first fork; one that is missing is left out
	Packages    []string      // other modules to load after them
	MustLoad    bool          // whether it is a fault if one of Packages cannot be loaded
	Home        string        // an empty folder of the template's own for Packages that write while they load
	ThreadStack int           // bytes of stack for each user thread
	OpenFiles   uint64        // descriptors of a child
	FileBytes   uint64        // size of one file
	Landlock    *LandlockPlan // the file wall; nil without Landlock
	MountRoot   string        // an empty folder: a wall of mounts is built there; "" for none
	Seccomp     bool
	Namespace   bool   // each child has a user namespace of its own, in which the kernel counts its tasks alone
	Tasks       uint64 // tasks that the children may make together with all others of their user; 0: as many as the parent
	Prctl       bool   // prctl(2) may be used: death signal, no new privileges
	NoGuard     bool   // leave out the import policy and the audit hook: for tests of what the kernel holds alone
}

// Policy is an import policy as the child reads it: a module's name to the
// reason of its rule.
type Policy struct {
	Mode  string            `json:"mode"` // "deny" or "allow"
	Rules map[string]string `json:"rules"`
}

// stage is what the helper stage needs, in Go, before Python starts.
type stage struct {
	Parent    int
	UID, GID  int
	Argv      []string
	Env       []string
	Landlock  *LandlockPlan
	MountRoot string
	Prctl     bool
	Rules     LandlockRules
}

// python is the template's configuration, as python/template.py reads it.
type python struct {
	Parent         int            `json:"parent"`
	ReadTrees      []string       `json:"read_trees"`
	ReadFiles      []string       `json:"read_files"`
	Policy         Policy         `json:"policy"`
	Guard          bool           `json:"guard"`
	Preload        []string       `json:"preload"`
	Packages       []string       `json:"packages"`
	MustLoad       bool           `json:"must_load"`
	Home           string         `json:"home"`
	ThreadStack    int            `json:"thread_stack"`
	RLimits        [][2]uint64    `json:"rlimits"`  // resource, soft and hard limit
	Landlock       bool           `json:"landlock"` // a ruleset comes with each request for a child
	Namespace      bool           `json:"namespace"`
	Prctl          bool           `json:"prctl"`
	Files          bool           `json:"files"`   // whether any file may be opened
	Numbers        map[string]int `json:"numbers"` // of the system calls that a child begins with
	TemplateFilter []byte         `json:"template_filter"`
	ChildFilter    []byte         `json:"child_filter"`
}

// childCalls are the numbers of the calls that a child confines itself with.
var childCalls = map[string]int{
	"dup3": unix.SYS_DUP3, "unshare": unix.SYS_UNSHARE, "capset": unix.SYS_CAPSET, "prctl": unix.SYS_PRCTL, "prlimit64": unix.SYS_PRLIMIT64,
	"landlock_restrict_self": unix.SYS_LANDLOCK_RESTRICT_SELF, "seccomp": unix.SYS_SECCOMP,
}

// rlimitMsgqueue is RLIMIT_MSGQUEUE, which package unix does not name
// (asm-generic/resource.h).
const rlimitMsgqueue = 12

// environment is all that a template and its children find. Python ignores its
// own variables under -I; the rest keeps libraries small and predictable.
var environment = []string{
	"LANG=C.UTF-8",
	"PATH=/usr/bin:/bin",
	"TZ=UTC",
	"MALLOC_ARENA_MAX=1", // glibc's arenas of 64 MiB would leave room for few threads
	"OPENBLAS_NUM_THREADS=1",
	"OMP_NUM_THREADS=1",
	"MKL_NUM_THREADS=1",
	"BLIS_NUM_THREADS=1",
	"NUMEXPR_NUM_THREADS=1",
	"NUMEXPR_MAX_THREADS=1",
	"MPLBACKEND=Agg",
}

// bootLine is what Python runs first, short because everybody can read it in the
// list of processes. python/boot.py says what it leaves.
const bootLine = "import sys; started_with = set(sys.modules); import json, os; " +
	"boot = json.loads(os.fdopen(4, 'rb').read()); " +
	"exec(compile(boot['boot'], '<cloche>/boot.py', 'exec', dont_inherit=True))"

// Boot returns what the parent writes to descriptor 4 of a process that it
// starts with Argv: the helper stage's part, with its length before it, then
// the Python part until end of file.
func (s Spec) Boot() ([]byte, error) {
	loader, err := Interpreter(s.Python)
	if err != nil {
		return nil, err
	}
	run := append([]string{s.Python}, s.RunTrees...)
	if loader != "" {
		run = append(run, loader)
	}
	read := append(append([]string{}, s.ReadTrees...), s.ReadFiles...)
	helper, err := json.Marshal(stage{
		Parent: s.Parent, UID: s.UID, GID: s.GID, Env: environment, Landlock: s.Landlock,
		MountRoot: s.MountRoot, Prctl: s.Prctl,
		Argv: []string{s.Python, "-I", "-X", "utf8", "-c", bootLine},
		Rules: LandlockRules{
			Read: read, Execute: run,
			Write: append([]string{s.WorkBase}, s.WriteFiles...), Optional: read,
		},
	})
	if err != nil {
		return nil, fmt.Errorf("encode helper stage: %w", err)
	}
	config, err := s.python()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	var size [4]byte
	binary.BigEndian.PutUint32(size[:], uint32(len(helper)))
	out.Write(size[:])
	out.Write(helper)
	out.Write(config)
	return out.Bytes(), nil
}

// ChildWall is what of the file wall all children have in common; nil without
// Landlock. Each child's ruleset adds its own folders.
func (s Spec) ChildWall() (*Wall, error) {
	if s.Landlock == nil {
		return nil, nil
	}
	read := slices.Concat(s.ReadTrees, s.ReadFiles)
	return s.Landlock.Wall(LandlockRules{Read: read, Write: s.WriteFiles, Optional: slices.Concat(read, s.WriteFiles)})
}

// fileWall reports whether something other than the syscall filter keeps
// children from the host's files.
func (s Spec) fileWall() bool { return s.Landlock != nil || s.MountRoot != "" }

func (s Spec) python() ([]byte, error) {
	config := python{
		Parent: s.Parent, ReadTrees: s.ReadTrees, ReadFiles: s.ReadFiles,
		Policy: s.Policy, Guard: !s.NoGuard, Preload: s.Preload,
		Packages: s.Packages, MustLoad: s.MustLoad, Home: s.Home, ThreadStack: s.ThreadStack, Landlock: s.Landlock != nil,
		Namespace: s.Namespace, Prctl: s.Prctl, Files: s.fileWall() || !s.Seccomp, Numbers: childCalls,
		RLimits: [][2]uint64{
			{unix.RLIMIT_NOFILE, s.OpenFiles},
			{unix.RLIMIT_FSIZE, s.FileBytes},
			{unix.RLIMIT_MEMLOCK, 0},
			{rlimitMsgqueue, 0},
		},
	}
	if s.Tasks > 0 {
		config.RLimits = append(config.RLimits, [2]uint64{unix.RLIMIT_NPROC, s.Tasks})
	}
	if s.Seccomp {
		if err := config.addFilters(s.fileWall()); err != nil {
			return nil, err
		}
	}
	boot, err := source("boot")
	if err != nil {
		return nil, err
	}
	modules := make([][2]string, 0, len(order))
	for _, name := range order {
		text, err := source(name)
		if err != nil {
			return nil, err
		}
		modules = append(modules, [2]string{name, text})
	}
	return json.Marshal(map[string]any{"boot": boot, "config": config, "sources": modules})
}

func source(name string) (string, error) {
	text, err := sources.ReadFile("python/" + name + ".py")
	if err != nil {
		return "", fmt.Errorf("read guard source: %w", err)
	}
	return string(text), nil
}

// addFilters adds the syscall filters. Without a file wall the child's one
// refuses every open.
func (p *python) addFilters(walled bool) (err error) {
	if p.TemplateFilter, err = TemplateFilter(); err != nil {
		return err
	}
	if walled {
		p.ChildFilter, err = ChildFilter()
		return err
	}
	p.ChildFilter, err = UnwalledChildFilter(false)
	return err
}
