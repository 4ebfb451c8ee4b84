package snippet

import "strings"

// Mode says how a Policy reads its rules.
type Mode string

// The two modes. A deny-list refuses what it names; an allow-list refuses
// everything else.
const (
	DenyListed  Mode = "deny"
	AllowListed Mode = "allow"
)

// Rule names a module, with everything below it, and says why it is listed.
type Rule struct {
	Module  string `json:"module" doc:"Module; the rule covers its submodules too."`
	Reason  string `json:"reason" doc:"Why the module is listed."`
	Instead string `json:"instead" doc:"What a snippet can use in its place; empty if nothing."`
}

// Policy says which modules user code may import. It speaks about the user's
// own import statements only: the standard library's imports for itself are
// not its business. It is policy and good error messages, not the wall.
type Policy struct {
	Mode  Mode   `json:"mode" enum:"deny,allow" doc:"Whether the rules name what is refused or what is allowed."`
	Rules []Rule `json:"rules" doc:"The listed modules."`
}

// Find returns the rule that covers module, the most specific one first.
func (p Policy) Find(module string) (Rule, bool) {
	for name := module; name != ""; name = parent(name) {
		for _, r := range p.Rules {
			if r.Module == name {
				return r, true
			}
		}
	}
	return Rule{}, false
}

// Denies reports whether user code may not import module.
func (p Policy) Denies(module string) bool {
	_, listed := p.Find(module)
	return listed == (p.Mode != AllowListed)
}

func parent(module string) string {
	i := strings.LastIndexByte(module, '.')
	if i < 0 {
		return ""
	}
	return module[:i]
}

// The reasons that several rules share.
const (
	process   = "starts, signals or inspects processes"
	network   = "opens network connections"
	native    = "runs native code or touches raw memory"
	machinery = "bypasses or rewires the import system"
	system    = "reads or changes the host system"
)

// DefaultPolicy is the deny-list that a server starts with.
func DefaultPolicy() Policy {
	return Policy{Mode: DenyListed, Rules: []Rule{
		{"os", system, "pathlib for paths and files, sys for the interpreter, time for clocks"},
		{"posix", system, "pathlib for paths and files"},
		{"nt", system, ""},
		{"pwd", system, ""},
		{"grp", system, ""},
		{"spwd", system, ""},
		{"fcntl", system, ""},
		{"termios", system, ""},
		{"tty", system, ""},
		{"syslog", system, "logging, which writes to standard error"},
		{"resource", system, "the answer's cpu_ms and peak_memory_bytes"},

		{"subprocess", process, "plain Python; no other program can be started"},
		{"multiprocessing", process, "threading or concurrent.futures.ThreadPoolExecutor"},
		{"_multiprocessing", process, ""},
		{"_posixsubprocess", process, ""},
		{"_posixshmem", process, ""},
		{"pty", process, ""},
		{"signal", process, "the request's timeout_ms for deadlines"},
		{"_signal", process, ""},
		{"_thread", process, "threading"},
		{"pdb", process, "print, or the answer's error.traceback"},
		{"pip", process, "the packages that GET /packages lists"},
		{"ensurepip", process, ""},
		{"venv", process, ""},

		{"socket", network, "the request's files for input data"},
		{"_socket", network, ""},
		{"socketserver", network, ""},
		{"ssl", network, ""},
		{"_ssl", network, ""},
		{"http", network, "the request's files for input data"},
		{"urllib.request", network, "the request's files for input data; urllib.parse works"},
		{"urllib.robotparser", network, ""},
		{"ftplib", network, ""},
		{"smtplib", network, ""},
		{"smtpd", network, ""},
		{"poplib", network, ""},
		{"imaplib", network, ""},
		{"nntplib", network, ""},
		{"telnetlib", network, ""},
		{"xmlrpc", network, ""},
		{"asyncore", network, "asyncio for concurrency without a network"},
		{"asynchat", network, "asyncio for concurrency without a network"},
		{"wsgiref", network, ""},
		{"cgi", network, ""},
		{"webbrowser", network, ""},
		{"antigravity", network, ""},
		{"requests", network, "the request's files for input data"},
		{"urllib3", network, "the request's files for input data"},
		{"httpx", network, "the request's files for input data"},
		{"aiohttp", network, "the request's files for input data"},

		{"ctypes", native, "struct, array or numpy for binary data"},
		{"_ctypes", native, ""},
		{"cffi", native, ""},
		{"_cffi_backend", native, ""},
		{"mmap", native, "open and bytes; files are small here"},

		{"importlib", machinery, "the import statement or __import__"},
		{"_imp", machinery, ""},
		{"_frozen_importlib", machinery, ""},
		{"_frozen_importlib_external", machinery, ""},
		{"imp", machinery, "the import statement or __import__"},
		{"pkgutil", machinery, "the import statement or __import__"},
		{"runpy", machinery, "the import statement or __import__"},
		{"zipimport", machinery, "zipfile to read an archive"},
		{"site", machinery, ""},
	}}
}
