package snippet

import (
	"errors"
	"time"
)

// ErrUnavailable means that no sandbox could be had before hand-over: nothing
// ran, and the caller may try again.
var ErrUnavailable = errors.New("no sandbox is available")

// Request is what a caller asks for. Validate says what is wrong with one.
type Request struct {
	Code    string
	Timeout time.Duration // wall clock; zero means DefaultTimeout
	Stdin   string
	Files   []File
}

// File is an input file, decoded.
type File struct {
	Path    string // relative, "/" between its parts
	Content []byte
}

// Limits bound one run. A zero field is a programming error: use DefaultLimits
// and change what differs.
type Limits struct {
	Memory        int64 // bytes of address space on top of the interpreter's own
	StdoutChars   int   // characters of stdout kept, head and tail together
	StderrChars   int   // characters of stderr kept, head and tail together
	FolderBytes   int64 // bytes in the work folder and the temporary folder together
	FolderEntries int   // files and folders in both together
	OpenFiles     int   // descriptors
	Threads       int   // threads of the child
}

// DefaultLimits are the limits of DESIGN's contract.
func DefaultLimits() Limits {
	return Limits{
		Memory:        256 << 20,
		StdoutChars:   4000,
		StderrChars:   2000,
		FolderBytes:   64 << 20,
		FolderEntries: 10_000,
		OpenFiles:     256,
		Threads:       256,
	}
}

// Job is a validated Request with everything that a runner needs to run it once.
type Job struct {
	ID      string // the run's ULID
	Tenant  string // for whom it runs; where tenants are kept apart, each has runners of its own
	Request Request
	Limits  Limits
	Policy  Policy
}

// Layer is one isolation layer and whether it is active on this machine.
type Layer struct {
	Name   string `json:"name" doc:"Name of the layer."`
	Active bool   `json:"active" doc:"Whether the layer holds for every run."`
	Detail string `json:"detail" doc:"Version or extent when active, the reason when not."`
	Means  string `json:"means" doc:"What the layer is for."`
}

// Runtime describes the sandbox for people: which Python, which layers, which
// packages.
type Runtime struct {
	Python     string   `json:"python" doc:"Version of the Python that runs snippets."`
	Executable string   `json:"-"`
	Layers     []Layer  `json:"layers" doc:"Isolation layers, outermost first."`
	Packages   Packages `json:"packages" doc:"What snippets can import besides the standard library; nothing as long as it is not known."`
}
