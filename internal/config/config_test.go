package config

import (
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
)

// load parses args as a command would and loads with env set and every other
// variable of ours empty.
func load(t *testing.T, l *Loader, env map[string]string, args ...string) (Config, error) {
	t.Helper()
	for _, s := range ForServer().settings {
		t.Setenv(s.env, env[s.env])
	}
	fs := pflag.NewFlagSet("test", pflag.ContinueOnError)
	fs.SetOutput(io.Discard)
	l.Bind(fs)
	if err := fs.Parse(args); err != nil {
		t.Fatal(err)
	}
	return l.Load()
}

func TestDefaults(t *testing.T) {
	got, err := load(t, ForServer(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Concurrency < 8 || got.Pool < 4 {
		t.Errorf("concurrency %d, pool %d: want at least 8 and 4", got.Concurrency, got.Pool)
	}
	got.Concurrency, got.Pool = 0, 0
	want := Config{
		Addr: "127.0.0.1:8080", Data: ".cloche", Queue: 512, Wait: 10 * time.Second,
		Require: []string{"files", "seccomp"}, Preload: []string{"auto"}, Memory: 256 << 20, StdoutChars: 4000, StderrChars: 2000, LogFormat: "json",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
}

func TestFlagBeatsVariableBeatsDefault(t *testing.T) {
	env := map[string]string{"CLOCHE_QUEUE": "7", "CLOCHE_WAIT": "3s"}
	got, err := load(t, ForServer(), env, "--queue=9")
	if err != nil {
		t.Fatal(err)
	}
	if got.Queue != 9 || got.Wait != 3*time.Second {
		t.Errorf("queue %d, wait %v: want the flag's 9 and the variable's 3s", got.Queue, got.Wait)
	}
}

func TestEnvironmentAlone(t *testing.T) {
	t.Setenv("CLOCHE_PYTHON", "/opt/python")
	got, err := ForServer().Load()
	if err != nil || got.Python != "/opt/python" {
		t.Errorf("without flags: python %q, %v", got.Python, err)
	}
}

func TestRunIgnoresServerVariables(t *testing.T) {
	got, err := load(t, ForRun(), map[string]string{"CLOCHE_ADDR": "nonsense"})
	if err != nil || got.Memory != 256<<20 || got.Addr != "" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestValues(t *testing.T) {
	for _, c := range []struct {
		arg  string
		want any
		get  func(Config) any
	}{
		{"--addr=localhost:0", "localhost:0", func(c Config) any { return c.Addr }},
		{"--addr=[::1]:8080", "[::1]:8080", func(c Config) any { return c.Addr }},
		{"--addr=127.9.9.9:1", "127.9.9.9:1", func(c Config) any { return c.Addr }},
		{"--memory=1g", int64(1 << 30), func(c Config) any { return c.Memory }},
		{"--memory=16777216", int64(16 << 20), func(c Config) any { return c.Memory }},
		{"--memory=64 GiB", int64(64 << 30), func(c Config) any { return c.Memory }},
		{"--allow-hosts=Cloche.Test, my_box,,::1", []string{"cloche.test", "my_box", "::1"}, func(c Config) any { return c.AllowedHosts }},
		{"--allow-hosts=*", []string{"*"}, func(c Config) any { return c.AllowedHosts }},
		{"--allow-remote", true, func(c Config) any { return c.AllowRemote }},
		{"--allow-remote=no", false, func(c Config) any { return c.AllowRemote }},
		{"--log-level=WARN", slog.LevelWarn, func(c Config) any { return c.LogLevel }},
		{"--log-format=Text", "text", func(c Config) any { return c.LogFormat }},
		{"--wait=100ms", 100 * time.Millisecond, func(c Config) any { return c.Wait }},
		{"--require=Landlock, seccomp,", []string{"landlock", "seccomp"}, func(c Config) any { return c.Require }},
		{"--require=none", []string(nil), func(c Config) any { return c.Require }},
		{"--preload=numpy, PIL.Image,,numpy", []string{"numpy", "PIL.Image"}, func(c Config) any { return c.Preload }},
		{"--preload=none", []string(nil), func(c Config) any { return c.Preload }},
		{"--preload=", []string(nil), func(c Config) any { return c.Preload }},
		{"--sole-user", true, func(c Config) any { return c.SoleUser }},
		{"--work=/var/tmp", "/var/tmp", func(c Config) any { return c.WorkBase }},
	} {
		t.Run(c.arg, func(t *testing.T) {
			got, err := load(t, ForServer(), nil, c.arg)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, c.get(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Where the layers are known, a layer that does not exist is a fault.
func TestRequireKnowsItsLayers(t *testing.T) {
	for require, good := range map[string]bool{"files": true, "Seccomp,files": true, "none": true, "file": false, "files,foo": false} {
		got, err := load(t, ForRun("files", "seccomp"), nil, "--require="+require)
		if (err == nil) != good {
			t.Errorf("%s: %v, %v", require, got.Require, err)
		}
		if err != nil && !strings.Contains(err.Error(), " is unknown; write some of files, seccomp") {
			t.Errorf("%s: %v", require, err)
		}
	}
}

// Each fault must name its setting and value and say what to write.
func TestFaults(t *testing.T) {
	for _, c := range []struct{ arg, want string }{
		{"--addr=8080", "host:port"},
		{"--addr=127.0.0.1:65536", "0 to 65535"},
		{"--addr=127.0.0.1:-1", "0 to 65535"},
		{"--addr=127.0.0.1:http", "0 to 65535"},
		{"--addr=a b:80", "valid host"},
		{"--addr=:8080", "--allow-remote"},
		{"--addr=0.0.0.0:8080", "--allow-remote"},
		{"--addr=[::]:8080", "--allow-remote"},
		{"--addr=example.test:8080", "--allow-remote"},
		{"--allow-remote=maybe", "true nor false"},
		{"--allow-hosts=https://x", "without scheme"},
		{"--allow-hosts=x:80", "port"},
		{"--allow-hosts=*.x", "* for any"},
		{"--allow-hosts=a..b", "not a host name"},
		{"--data=", "names no folder"},
		{"--data=a\x00b", "NUL"},
		{"--python=a\x00b", "NUL"},
		{"--work=tmp", "absolute path"},
		{"--concurrency=0", "1 to 1024"},
		{"--concurrency=1025", "1 to 1024"},
		{"--concurrency=many", "whole number"},
		{"--concurrency=9999999999999999999999", "1 to 1024"},
		{"--pool=0", "1 to 256"},
		{"--queue=-1", "0 to 65536"},
		{"--wait=10", "with a unit"},
		{"--wait=0s", "from 100ms to 5m0s"},
		{"--wait=6m", "from 100ms to 5m0s"},
		{"--require=", "write none"},
		{"--require=none,seccomp", "one of them"},
		{"--preload=numpy;x", "not the name of a Python module"},
		{"--preload=a..b", "not the name of a Python module"},
		{"--preload=.a", "not the name of a Python module"},
		{"--preload=1a", "not the name of a Python module"},
		{"--preload=" + strings.Repeat("a", 101), "not the name of a Python module"},
		{"--preload=auto,numpy", "write that alone"},
		{"--preload=" + strings.Join(strings.Split("abcdefghijklmnopqrstuvwxyzABCDEFG", ""), ","), "at most 32"},
		{"--sole-user=2", "true nor false"},
		{"--memory=256", "out of bounds"},
		{"--memory=lots", "256MiB"},
		{"--memory=-1M", "256MiB"},
		{"--memory=65GiB", "64GiB"},
		{"--memory=9999999999999999999G", "out of bounds"},
		{"--memory=9000000000000000000G", "out of bounds"},
		{"--stdout-chars=99", "100 to 1000000"},
		{"--stderr-chars=1000001", "100 to 1000000"},
		{"--log-level=loud", "debug, info, warn or error"},
		{"--log-format=xml", "json or text"},
	} {
		t.Run(c.arg, func(t *testing.T) {
			_, err := load(t, ForServer(), nil, c.arg)
			if err == nil {
				t.Fatal("no fault")
			}
			name, _, _ := strings.Cut(c.arg, "=")
			if !strings.HasPrefix(err.Error(), name+" ") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("fault %q must start with %s and say %q", err, name, c.want)
			}
		})
	}
}

func TestAllFaultsAtOnce(t *testing.T) {
	_, err := load(t, ForServer(), map[string]string{"CLOCHE_QUEUE": "x"}, "--pool=0", "--addr=:80")
	if err == nil {
		t.Fatal("no fault")
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d lines, want one for each of three faults:\n%v", len(lines), err)
	}
	for _, name := range []string{"CLOCHE_QUEUE ", "--pool ", "--addr "} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("no fault names %s:\n%v", name, err)
		}
	}
}

func TestRemoteWhenAskedFor(t *testing.T) {
	env := map[string]string{"CLOCHE_ALLOW_REMOTE": "1"}
	if _, err := load(t, ForServer(), env, "--addr=0.0.0.0:80"); err != nil {
		t.Error(err)
	}
}

func TestWorkFolderStaysOutOfTheData(t *testing.T) {
	for work, good := range map[string]bool{"/srv/data": false, "/srv/data/x": false, "/srv": true, "/srv/data2": true} {
		_, err := load(t, ForServer(), nil, "--data=/srv/data", "--work="+work)
		if (err == nil) != good {
			t.Errorf("work %s beside data /srv/data: %v", work, err)
		}
	}
}

// A long value must not drown the fault, whatever bytes it has.
func TestFaultIsOneShortLine(t *testing.T) {
	_, err := load(t, ForServer(), nil, "--queue="+strings.Repeat("9\n", 5000))
	if err == nil || len(err.Error()) > 600 || strings.Contains(err.Error(), "\n") {
		t.Errorf("not one short line: %.80q", err)
	}
}

// The help must show every setting with its variable.
func TestHelpNamesVariables(t *testing.T) {
	fs := pflag.NewFlagSet("test", pflag.ContinueOnError)
	ForServer().Bind(fs)
	usage := fs.FlagUsages()
	for _, s := range ForServer().settings {
		if !strings.Contains(usage, "--"+s.flag) || !strings.Contains(usage, "["+s.env+"]") {
			t.Errorf("the help lacks --%s or %s:\n%s", s.flag, s.env, usage)
		}
	}
}
