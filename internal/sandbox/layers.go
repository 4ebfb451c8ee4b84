package sandbox

import (
	"fmt"
	"slices"
	"strings"

	"cloche/internal/guard"
	"cloche/internal/snippet"
)

// fileWall is what keeps a child from the host's files and from other runs.
type fileWall string

// The file walls, the best first; the first that works is used.
const (
	wallLandlock fileWall = "landlock" // only the library and the run's own folders
	wallMount    fileWall = "mount"    // the same by a mount namespace; other runs' folders have secret names
	wallNoFiles  fileWall = "no-files" // the syscall filter refuses every open
	wallNone     fileWall = "none"
)

// layers is what holds on this machine. It is found out once, at the start.
type layers struct {
	kernel    guard.Kernel
	identity  identity
	wall      fileWall
	seccomp   bool
	namespace bool // each child has a user namespace, in which the kernel counts its tasks
	prctl     bool // death signal, no new privileges, undumpable, subreaper
	pidfd     bool
	memfd     bool
	sole      bool // every process of the snippets' user here is ours
}

// choose climbs down the ladder: for each job the best means that works.
func choose(k guard.Kernel, id identity, sole bool) layers {
	l := layers{
		kernel: k, identity: id, sole: sole,
		seccomp: k.Has(guard.FeatureSeccomp), prctl: k.Has(guard.FeatureDeathSignal),
		pidfd: k.Has(guard.FeaturePidfd), memfd: k.Has(guard.FeatureMemfd),
	}
	// Without the filter a run could make such namespaces by itself, and more in them.
	// And a server that may look into children under their name only may not look into
	// another namespace of theirs.
	l.namespace = l.seccomp && k.Has(guard.FeatureUserNS) && !id.masked
	switch {
	case k.Landlock > 0:
		l.wall = wallLandlock
	case k.Has(guard.FeatureMount) && l.seccomp && id.drop() && !id.masked:
		// It needs the filter, or /proc would tell the names of other runs' folders,
		// and a user of the runs' own, or a run could write beside its folder. And a
		// server that may look into what made itself undumpable, to count its files.
		l.wall = wallMount
	case l.seccomp:
		l.wall = wallNoFiles
	default:
		l.wall = wallNone
	}
	return l
}

// forks reports whether a snippet could make processes that outlive its child.
func (l layers) forks() bool { return !l.seccomp }

// offers says what of a valid request this machine cannot do.
func (l layers) offers(r snippet.Request) error {
	if l.wall == wallNoFiles && len(r.Files) > 0 {
		return snippet.FieldErrors{{Field: "files", Problem: "this server has no file wall (Landlock or mounts), so runs cannot use files"}}
	}
	return nil
}

// Layer names, as --require takes them and /health shows them.
const (
	LayerFiles    = "files"
	LayerLandlock = "landlock"
	LayerMount    = "mount"
	LayerSeccomp  = "seccomp"
	LayerIdentity = "identity"
	LayerThreads  = "threads"
	LayerPrctl    = "prctl"
	LayerPidfd    = "pidfd"
	LayerMemfd    = "memfd"
	LayerSweep    = "sweep"
)

// LayerNames lists what can be required.
func LayerNames() []string {
	return []string{LayerFiles, LayerLandlock, LayerMount, LayerSeccomp, LayerIdentity, LayerThreads, LayerPrctl, LayerPidfd, LayerMemfd, LayerSweep}
}

// report describes every layer for people.
func (l layers) report() []snippet.Layer {
	return []snippet.Layer{
		l.files(),
		l.feature(LayerLandlock, l.kernel.Landlock > 0, guard.FeatureLandlock, fmt.Sprintf("ABI %d", l.kernel.Landlock),
			"The kernel opens only Python's library and the run's own folders."),
		l.feature(LayerMount, l.kernel.Has(guard.FeatureMount) || l.wall == wallMount, guard.FeatureMount, l.mountUse(),
			"A namespace shows only Python's library and the runs' folders; used when Landlock is missing."),
		l.feature(LayerSeccomp, l.seccomp, guard.FeatureSeccomp, "allow-list of system calls",
			"No processes, no programs, no sockets, and no other way into the kernel."),
		l.who(),
		l.threads(),
		l.feature(LayerPrctl, l.prctl, guard.FeatureDeathSignal, "death signal, no new privileges, unreadable server",
			"Children die with the server, gain nothing by exec, and cannot read the server's memory."),
		l.feature(LayerPidfd, l.pidfd, guard.FeaturePidfd, "signals go to the process that is meant",
			"A child is ended by a handle; without it by its number, before it is reaped."),
		l.feature(LayerMemfd, l.memfd, guard.FeatureMemfd, "standard input is a sealed memory file",
			"Without it standard input is an unlinked file."),
		l.sweeping(),
	}
}

func (l layers) files() snippet.Layer {
	details := map[fileWall]string{
		wallLandlock: "Landlock",
		wallMount:    "mount namespace; other runs' folders have names that a run cannot learn",
		wallNoFiles:  "the syscall filter refuses every open: files cannot be used at all",
		wallNone:     "nothing but the import guard stands between a snippet and what its user may read",
	}
	return snippet.Layer{
		Name: LayerFiles, Active: l.wall != wallNone, Detail: details[l.wall],
		Means: "What keeps a snippet from the host's files and from other runs.",
	}
}

func (l layers) mountUse() string {
	if l.wall == wallMount {
		return "in use"
	}
	return "not needed"
}

func (l layers) who() snippet.Layer {
	detail := fmt.Sprintf("uid %d, nobody else's", l.identity.uid)
	if !l.identity.drop() {
		detail = fmt.Sprintf("uid %d is the server's own: only root can give snippets another", l.identity.uid)
	}
	return snippet.Layer{
		Name: LayerIdentity, Active: l.identity.drop(), Detail: detail,
		Means: "A user of their own keeps snippets from the server's processes and files even where other layers fail.",
	}
}

// accounts reports whether the server may look into a child, at what it writes and
// at its files without a name. Only without Landlock does a child make itself
// undumpable, and then only root with every right may; there a run has no files, or
// no wall at all.
func (l layers) accounts() bool {
	return l.wall == wallLandlock || !l.prctl || l.identity.uid == 0 || l.identity.drop() && !l.identity.masked
}

// countsTasks reports whether the kernel keeps a run's limit on threads.
func (l layers) countsTasks() bool { return l.namespace || l.countsByUser() }

// countsByUser reports whether all tasks of the snippets' user are known to be
// those of the one run: then the kernel's count of the user is one of the run.
func (l layers) countsByUser() bool { return l.forks() && l.sole && l.identity.uid != 0 }

func (l layers) threads() snippet.Layer {
	t := snippet.Layer{Name: LayerThreads, Active: l.countsTasks(), Means: "The kernel itself keeps a run to its number of threads."}
	switch {
	case l.namespace:
		t.Detail = "counted in a user namespace of the run's own"
	case l.countsByUser():
		t.Detail = "counted by user: one run at a time"
	default:
		why := l.kernel.Refused[guard.FeatureUserNS]
		switch {
		case why == "" && l.identity.masked:
			why = "the server has no CAP_SYS_PTRACE to look into them"
		case why == "":
			why = "not used without the syscall filter"
		}
		t.Detail = fmt.Sprintf("looked at every %d ms only: no user namespaces here (%s)", tick.Milliseconds(), why)
	}
	return t
}

func (l layers) sweeping() snippet.Layer {
	s := snippet.Layer{Name: LayerSweep, Active: true, Means: "What ends processes that a run left behind, before its answer is given."}
	switch {
	case !l.forks():
		s.Detail = "not needed: no run can make a process"
	case l.sole:
		s.Detail = "by user: every process of the snippets' user"
	default:
		s.Detail = "by descent: what a run leaves is searched for and killed; a fork bomb may outrun the search"
		s.Active = false
	}
	return s
}

func (l layers) feature(name string, active bool, feature, detail, means string) snippet.Layer {
	if !active {
		detail = l.kernel.Refused[feature]
		if detail == "" {
			detail = "switched off"
		}
	}
	return snippet.Layer{Name: name, Active: active, Detail: detail, Means: means}
}

// MissingError says which required layers this machine does not have.
type MissingError struct{ Layers []snippet.Layer }

func (e *MissingError) Error() string {
	var b strings.Builder
	b.WriteString("required isolation is missing:")
	for _, l := range e.Layers {
		fmt.Fprintf(&b, " %s (%s);", l.Name, l.Detail)
	}
	b.WriteString(" run `cloche doctor` to see all layers, or accept less with --require")
	return b.String()
}

// check fails closed: a required layer that is not active is an error.
func (l layers) check(require []string) error {
	var missing []snippet.Layer
	for _, name := range require {
		report := l.report()
		at := slices.IndexFunc(report, func(s snippet.Layer) bool { return s.Name == name })
		if at < 0 {
			return fmt.Errorf("unknown isolation layer %q: the layers are %s", name, strings.Join(LayerNames(), ", "))
		}
		if !report[at].Active {
			missing = append(missing, report[at])
		}
	}
	if missing != nil {
		return &MissingError{missing}
	}
	return nil
}
