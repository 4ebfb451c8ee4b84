// Package config reads the command line and the environment into one Config.
// A flag beats its environment variable, which beats the default; an empty
// variable counts as not set. All faults come back in one error, so that an
// operator mends them in one go. No other package reads the environment.
package config

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// Config is everything that an operator decides. Load fills every field.
type Config struct {
	Addr         string   // host:port to listen on; port 0 takes a free one
	AllowRemote  bool     // Addr may be one that other machines reach
	AllowedHosts []string // names in a request's Host header on top of the loopback ones, "*" for any; nil means no more
	Data         string   // folder of the records

	Python   string // interpreter that runs snippets; "" means the sandbox finds one
	WorkBase string // absolute folder for the work folders; "" means the sandbox chooses

	Preload []string // modules to load once for all runs besides the standard library; "auto" alone means that the sandbox chooses, nil means none

	Require  []string // isolation layers without which nothing starts; nil means none
	SoleUser bool     // every process of the snippets' user here is Cloche's own

	Concurrency int           // runs at one time
	Pool        int           // children that are ready and wait for a run
	Queue       int           // callers that may wait for a slot
	Wait        time.Duration // how long each of them waits at most

	Memory      int64 // bytes that one run may use on top of the interpreter's own
	StdoutChars int   // characters of standard output that an answer keeps
	StderrChars int   // characters of standard error that an answer keeps

	LogLevel  slog.Level
	LogFormat string // "json" or "text"
}

// Loader reads one command's settings.
type Loader struct {
	settings []setting
	flags    map[string]*flagValue // by flag name; nil before Bind
}

// ForServer reads the settings of a server: all of them. The layers are those
// that can be required; without them whoever requires them has to know.
func ForServer(layers ...string) *Loader {
	return &Loader{settings: append(serverSettings(), sandboxSettings(layers)...)}
}

// ForRun reads the settings of a single local run. A server's variables that
// happen to be set do not concern it: their fields keep the defaults. The layers
// are as for ForServer.
func ForRun(layers ...string) *Loader {
	l := &Loader{settings: sandboxSettings(layers)}
	l.describe("work", "existing folder to make the run's work folder in; the temporary one if not named")
	return l
}

// ForRecords reads where the records are, for a command that works on them
// without a server.
func ForRecords() *Loader {
	isData := func(s setting) bool { return s.flag == "data" }
	all := serverSettings()
	l := &Loader{settings: all[slices.IndexFunc(all, isData):][:1]}
	l.describe("data", "folder of the records, the --data of their server; none is made")
	return l
}

// describe gives a setting another text in the help.
func (l *Loader) describe(flag, usage string) {
	for i := range l.settings {
		if l.settings[i].flag == flag {
			l.settings[i].usage = usage
		}
	}
}

// Bind adds the settings to fs as flags. Without Bind only the environment counts.
func (l *Loader) Bind(fs *pflag.FlagSet) {
	l.flags = make(map[string]*flagValue, len(l.settings))
	for _, s := range l.settings {
		v := &flagValue{text: s.fallback, kind: s.kind}
		l.flags[s.flag] = v
		f := fs.VarPF(v, s.flag, "", fmt.Sprintf("%s [%s]", s.usage, s.env))
		if s.kind == kindSwitch {
			f.NoOptDefVal = "true"
		}
	}
}

// Load returns the Config, or all faults joined. Each fault is one line that
// names the flag or variable, what is wrong with its value and what to do.
func (l *Loader) Load() (Config, error) {
	var c Config
	var faults []error
	from := make(map[string]string, len(l.settings))
	for _, s := range l.settings {
		name, text := l.find(s)
		from[s.flag] = name
		if err := s.parse(&c, text); err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", quoted(name, text), err))
		}
	}
	faults = append(faults, checkAddr(c, from["addr"]), checkWork(c, from["work"]))
	if err := errors.Join(faults...); err != nil {
		return Config{}, err
	}
	return c, nil
}

// find returns where the setting's text comes from and the text.
func (l *Loader) find(s setting) (name, text string) {
	if v := l.flags[s.flag]; v != nil && v.set {
		return "--" + s.flag, v.text
	}
	if text := os.Getenv(s.env); text != "" {
		return s.env, text
	}
	return "--" + s.flag, s.fallback
}

// checkAddr refuses an address that other machines can reach, since anybody
// there could run code without a key. A field that is "" had a fault of its own
// or is not this command's.
func checkAddr(c Config, name string) error {
	if c.AllowRemote || c.Addr == "" || isLoopback(c.Addr) {
		return nil
	}
	return fmt.Errorf("%s: other machines could run code here without a key; "+
		"listen on 127.0.0.1, or say --allow-remote (CLOCHE_ALLOW_REMOTE=true) if that is meant", quoted(name, c.Addr))
}

func isLoopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// checkWork keeps the folders that snippets see away from the records.
func checkWork(c Config, name string) error {
	if c.WorkBase == "" || c.Data == "" {
		return nil
	}
	data, err := filepath.Abs(c.Data)
	if err != nil {
		return fmt.Errorf("find the data folder: %w", err)
	}
	if rel, err := filepath.Rel(data, c.WorkBase); err != nil || !filepath.IsLocal(rel) {
		return nil
	}
	return fmt.Errorf("%s: lies in the data folder %s; choose a folder outside it", quoted(name, c.WorkBase), data)
}

// quoted names a setting with its value, cut to a length that fits a line.
func quoted(name, text string) string {
	const most = 120
	if len(text) > most {
		text = text[:most] + "..."
	}
	return fmt.Sprintf("%s %q", name, text)
}

// flagValue keeps a flag's text for Load, so that one bad flag does not hide
// the other faults. It is a pflag.Value.
type flagValue struct {
	text string
	kind string
	set  bool
}

func (v *flagValue) String() string { return v.text }
func (v *flagValue) Type() string   { return v.kind }

func (v *flagValue) Set(text string) error {
	v.text, v.set = text, true
	return nil
}
