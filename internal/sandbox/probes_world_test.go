package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// world is what lies around the sandbox for the probes to reach at: services,
// and files that belong to others.
type world struct {
	who  string
	dir  string
	id   identity
	what map[string]any // what every scene says
}

// scene is what one probe is told, unless its header says that it is told nothing.
// That it knows all this is the test's gift: an attacker would have to find it out
// first.
type scene map[string]any

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{who: asUser, id: childIdentity(0)}
	if w.id.drop() {
		w.who = asRoot
	}
	dir, err := os.MkdirTemp("", "probes-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	w.dir = dir
	w.must(t, os.Chmod(dir, 0o755))
	w.what = map[string]any{
		"data": w.private(t, "data", "cloche.db"), "home": w.private(t, "home", ".ssh/id_ed25519"),
		"tcp": w.tcp(t), "udp": w.udp(t),
		"socket":   w.unix(t, filepath.Join(dir, "service")),
		"abstract": w.unix(t, "@probes-"+strconv.Itoa(os.Getpid()))[1:],
		"marker":   reversed(marker),
	}
	w.what["host"], err = os.Hostname()
	w.must(t, err)
	w.lock(t)
	return w
}

// lock holds a lock on a file of Python's library, as any process of the host may
// that can read it.
func (w *world) lock(t *testing.T) {
	t.Helper()
	python, err := findPython(context.Background(), "", w.id)
	w.must(t, err)
	for _, tree := range python.ReadTrees {
		f, err := os.Open(filepath.Join(tree, "os.py"))
		if err != nil {
			continue
		}
		t.Cleanup(func() { _ = f.Close() })
		w.must(t, unix.FcntlFlock(f.Fd(), unix.F_SETLK, &unix.Flock_t{Type: unix.F_RDLCK}))
		return
	}
	t.Fatalf("no os.py in %v", python.ReadTrees)
}

// marker is the text that a run leaves behind for a later one to look for.
const marker = "blue-heron-over-the-old-canal-4711"

func reversed(s string) string {
	var out []byte
	for i := range s {
		out = append(out, s[len(s)-1-i])
	}
	return string(out)
}

func (w *world) must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// private makes a folder that only the server's user may enter, with a file.
func (w *world) private(t *testing.T, name, file string) string {
	t.Helper()
	path := filepath.Join(w.dir, name, file)
	w.must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	w.must(t, os.WriteFile(path, []byte("a secret of the server's\n"), 0o600))
	return filepath.Join(w.dir, name)
}

// outside makes a folder that the snippets' user owns, with a secret and a link in
// it. Each probe has its own, so that none sees what another did.
func (w *world) outside(t *testing.T, owner identity, set, probe string) string {
	t.Helper()
	dir := filepath.Join(w.dir, set, probe)
	w.must(t, os.MkdirAll(filepath.Join(dir, "empty"), 0o755))
	w.must(t, os.WriteFile(filepath.Join(dir, "secret.txt"), []byte("a secret outside\n"), 0o600))
	w.must(t, os.Symlink("a place that a link tells", filepath.Join(dir, "pointer")))
	for _, path := range []string{dir, filepath.Join(dir, "empty"), filepath.Join(dir, "secret.txt")} {
		w.must(t, os.Chown(path, owner.uid, owner.gid))
	}
	return dir
}

// leaveSecret puts a file into another run's folder.
func (w *world) leaveSecret(t *testing.T, owner identity, folder string) {
	t.Helper()
	path := filepath.Join(folder, "secret.txt")
	w.must(t, os.WriteFile(path, []byte("a secret of another run\n"), 0o600))
	w.must(t, os.Chown(path, owner.uid, owner.gid))
}

func (w *world) tcp(t *testing.T) int {
	return w.serve(t, "tcp", "127.0.0.1:0").Addr().(*net.TCPAddr).Port
}

func (w *world) unix(t *testing.T, address string) string {
	w.serve(t, "unix", address)
	if address[0] != '@' {
		w.must(t, os.Chmod(address, 0o777))
	}
	return address
}

// serve accepts whoever comes and hangs up.
func (w *world) serve(t *testing.T, network, address string) net.Listener {
	t.Helper()
	l, err := net.Listen(network, address)
	w.must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
		}
	}()
	return l
}

// udp answers every datagram.
func (w *world) udp(t *testing.T) int {
	t.Helper()
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	w.must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	go func() {
		buf := make([]byte, 64)
		for {
			n, from, err := c.ReadFrom(buf)
			if err != nil {
				return
			}
			_, _ = c.WriteTo(buf[:n], from)
		}
	}()
	return c.LocalAddr().(*net.UDPAddr).Port
}

// program is a probe's whole text.
func (s scene) program(t *testing.T, p probe) string {
	t.Helper()
	prelude, err := probeFiles.ReadFile("testdata/prelude.py")
	if err != nil {
		t.Fatal(err)
	}
	if p.untold {
		s = scene{}
	}
	told, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("SCENE = r'''%s'''\n%s\n%s", told, prelude, p.code)
}
