//go:build linux

package main

import (
	"encoding/json"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"cloche/internal/config"
	"cloche/internal/snippet"
)

// A server that is killed takes everything with it at once: the run in flight,
// the waiting children, the template.
func TestServeKilledLeavesNoProcess(t *testing.T) {
	s := startServer(t)
	answer := s.execute(`while True: pass`)
	below := awaitBusy(t, s.cmd.Process.Pid)
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.cmd.Wait()
	if status := <-answer; status != 0 {
		t.Errorf("HTTP %d from a dead server", status)
	}
	// They die with the server; the bound is for a machine that is very busy.
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		left := slices.DeleteFunc(slices.Clone(below), gone)
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("still there: %v", left)
		}
	}
}

// awaitBusy waits until a run has used processor time, and returns all processes
// below the server: a template, the run, waiting children.
func awaitBusy(t *testing.T, server int) []task {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		below := descendants(server)
		if len(below) > 2 && slices.ContainsFunc(below, func(p task) bool { return p.parent != strconv.Itoa(server) && p.used > 20 }) {
			return below
		}
	}
	t.Fatal("no run got busy")
	return nil
}

// task is a process that cannot be mistaken for a later one with its number.
type task struct {
	pid, parent, state, began string
	used                      int // processor time in ticks of 10 ms
}

// readTask reads /proc/PID/stat (proc_pid_stat(5)); the name in it may hold
// anything, so it is skipped.
func readTask(pid string) (task, bool) {
	text, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return task{}, false
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) < 20 {
		return task{}, false
	}
	used, _ := strconv.Atoi(fields[11])
	return task{pid, fields[1], fields[0], fields[19], used}, true
}

// gone reports whether the process is dead, if not yet reaped.
func gone(p task) bool {
	now, there := readTask(p.pid)
	return !there || now.began != p.began || now.state == "Z" || now.state == "X"
}

func descendants(pid int) []task {
	names, _ := filepath.Glob("/proc/[0-9]*")
	var all []task
	for _, name := range names {
		if p, ok := readTask(filepath.Base(name)); ok {
			all = append(all, p)
		}
	}
	var below []task
	for todo := []string{strconv.Itoa(pid)}; len(todo) > 0; todo = todo[1:] {
		for _, p := range all {
			if p.parent == todo[0] {
				below, todo = append(below, p), append(todo, p.pid)
			}
		}
	}
	return below
}

// No value of the server's environment can be read by a snippet, and nothing in
// it steers the interpreter.
func TestServeKeepsItsEnvironment(t *testing.T) {
	const secret = "environment-" + "canary-5e1f"
	stray := workFolder(t)
	if err := os.WriteFile(filepath.Join(stray, "sitecustomize.py"), []byte("raise SystemExit('"+secret+"')"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_LAMBDA_RUNTIME_API", "SECRET", "PYTHONSTARTUP", "PYTHONHOME"} {
		t.Setenv(name, secret)
	}
	t.Setenv("PYTHONPATH", stray)
	t.Setenv("PYTHONINSPECT", "1")
	s := startServer(t)
	parent := strconv.Itoa(s.cmd.Process.Pid)
	for _, code := range []string{
		"import sys\nprint('{0.modules[os].environ}'.format(sys), sys.modules['os'].environb)",
		"print(open('/proc/self/environ').read())",
		"print(open('/proc/" + parent + "/environ').read())",
		"import pathlib\nfor p in pathlib.Path('/proc').glob('[0-9]*/environ'): print(p, p.read_text())",
		"import sys\nprint(sys.path, sys.flags, sys.argv, sys.orig_argv, sys.modules['os'].getcwd())\n'" + stray + "' in sys.path",
		"import gc\nprint([o for o in gc.get_objects() if type(o) is dict and 'AWS_' in str(list(o))][:1])",
		"import sys, platform, sysconfig\nprint(sysconfig.get_config_vars().get('AWS_SECRET_ACCESS_KEY'), platform.uname())",
	} {
		r := s.result(t, code)
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), secret) {
			t.Errorf("%q shows it: %s", code, text)
		}
		if r.Value != nil && *r.Value != "False" {
			t.Errorf("PYTHONPATH reached the snippet's sys.path: %s", r.Stdout)
		}
	}
	if r := s.result(t, "print('on')"); r.Stdout != "on\n" {
		t.Errorf("%s (%s), stderr %q", r.Outcome, r.Reason, r.Stderr)
	}
}

// result runs code on the server.
func (s *server) result(t *testing.T, code string) snippet.Result {
	t.Helper()
	body, err := json.Marshal(map[string]any{"code": code})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(s.url+"/execute", "application/json", strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var r snippet.Result
	if err := json.NewDecoder(resp.Body).Decode(&r); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("HTTP %d: %v", resp.StatusCode, err)
	}
	return r
}

// Without being told otherwise, a server can be reached from its own machine
// only: by its default address, and by every socket that it listens on.
func TestServeListensOnLoopbackOnly(t *testing.T) {
	for _, name := range []string{"CLOCHE_ADDR", "CLOCHE_ALLOW_REMOTE"} {
		t.Setenv(name, "")
	}
	cfg, err := config.ForServer().Load()
	if err != nil {
		t.Fatal(err)
	}
	if addr, err := netip.ParseAddrPort(cfg.Addr); err != nil || !addr.Addr().IsLoopback() {
		t.Errorf("default address %q: %v", cfg.Addr, err)
	}
	s := startServer(t) // on another port, since the default one may be taken here
	s.result(t, "print(1)")
	sockets := listening(t, s.cmd.Process.Pid)
	if len(sockets) == 0 {
		t.Error("no listening socket was found")
	}
	for _, addr := range sockets {
		if !addr.Unmap().IsLoopback() {
			t.Errorf("it listens on %v", addr)
		}
	}
}

// listening returns the addresses of the TCP sockets that a process listens on.
func listening(t *testing.T, pid int) []netip.Addr {
	t.Helper()
	dir := "/proc/" + strconv.Itoa(pid)
	fds, err := os.ReadDir(dir + "/fd")
	if err != nil {
		t.Skipf("the descriptors of a process that protects itself can be listed by root only: %v", err)
	}
	own := map[string]bool{}
	for _, fd := range fds {
		if target, err := os.Readlink(dir + "/fd/" + fd.Name()); err == nil {
			own[target] = true
		}
	}
	var out []netip.Addr
	for _, table := range []string{"tcp", "tcp6"} {
		text, err := os.ReadFile(dir + "/net/" + table)
		if err != nil {
			continue // this machine has no IPv6
		}
		for line := range strings.Lines(string(text)) {
			// sl local_address rem_address st ... inode is field 9 (proc_pid_net(5)).
			fields := strings.Fields(line)
			if len(fields) > 9 && fields[3] == "0A" && own["socket:["+fields[9]+"]"] {
				out = append(out, procAddr(t, fields[1]))
			}
		}
	}
	return out
}

// procAddr decodes an address of /proc/net/tcp: words of four bytes, each in the
// machine's own order, which is little-endian wherever this runs.
func procAddr(t *testing.T, text string) netip.Addr {
	t.Helper()
	host, _, _ := strings.Cut(text, ":")
	raw := make([]byte, len(host)/2)
	for i := range raw {
		n, err := strconv.ParseUint(host[2*i:2*i+2], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		raw[i/4*4+3-i%4] = byte(n)
	}
	addr, ok := netip.AddrFromSlice(raw)
	if !ok {
		t.Fatalf("address %q", text)
	}
	return addr
}
