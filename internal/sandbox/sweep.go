package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"cloche/internal/guard"
)

// Where the syscall filter is missing, a snippet can make processes that outlive
// its child. The sweep ends them before the answer is given. How it tells them
// apart depends on the place: in a container or a microVM of our own, every
// process of the snippets' user is ours; on a person's machine only descendants
// of the server are.

// process is one line of what /proc says.
type process struct {
	pid, parent int
	uid         int
	state       byte
}

// processes lists what /proc shows. What vanishes meanwhile is left out.
func processes() []process {
	names, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var all []process
	for _, name := range names {
		if pid, err := strconv.Atoi(name.Name()); err == nil {
			if p, ok := readProcess(pid); ok {
				all = append(all, p)
			}
		}
	}
	return all
}

func readProcess(pid int) (process, bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return process{}, false
	}
	// The name in parentheses may hold anything, parentheses too (proc(5)).
	end := strings.LastIndexByte(string(text), ')')
	if end < 0 {
		return process{}, false
	}
	fields := strings.Fields(string(text[end+1:]))
	if len(fields) < 2 {
		return process{}, false
	}
	parent, _ := strconv.Atoi(fields[1])
	// The owner of /proc/PID is root for a process that made itself undumpable.
	return process{pid: pid, parent: parent, uid: int(statusNumber(pid, "Uid")), state: fields[0][0]}, true
}

// tasksOf counts the threads of a user's processes.
func tasksOf(uid int) int {
	n := 0
	for _, p := range processes() {
		if p.uid == uid {
			n += threads(p.pid)
		}
	}
	return n
}

// strangers are the processes that a run left: those in reach that are neither
// the server, nor its template, nor a child that the template made.
func (s *Sandbox) strangers(known []int) []process {
	all := processes()
	var found []process
	for _, p := range all {
		if p.pid != os.Getpid() && !slices.Contains(known, p.pid) && p.state != 'Z' && !ofAnother(p, known) && s.reaches(p, all) {
			found = append(found, p)
		}
	}
	return found
}

// ofAnother reports whether a process is the template of another sandbox in this
// process, or a child of one. The first of known is our own template.
func ofAnother(p process, known []int) bool {
	_, template := templates.Load(p.pid)
	_, child := templates.Load(p.parent)
	return template || child && p.parent != known[0]
}

func (s *Sandbox) reaches(p process, all []process) bool {
	if s.layers.sole {
		return p.pid != 1 && p.uid == s.layers.identity.uid
	}
	return descends(p, os.Getpid(), all)
}

// descends follows parents upwards, with a bound against a table that changed
// while it was read.
func descends(p process, ancestor int, all []process) bool {
	for range len(all) {
		if p.parent == ancestor {
			return true
		}
		at := slices.IndexFunc(all, func(q process) bool { return q.pid == p.parent })
		if at < 0 {
			return false
		}
		p = all[at]
	}
	return false
}

// lastPID is the number of the newest process or thread of this namespace, from
// /proc/loadavg; 0 if it cannot be read. A process that does nothing but replace
// itself by a fork is never seen in a list, but it moves this number.
func lastPID() int {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) != 5 {
		return 0
	}
	n, _ := strconv.Atoi(fields[4])
	return n
}

// sweepTries bounds the search for processes that fork as fast as they die.
const sweepTries = 50

// errOutrun means that processes of a run could not be ended.
var errOutrun = errors.New("processes of a run are still there")

// sweep ends what the run left, and reports whether there was anything. No child
// may be forked meanwhile.
func (s *Sandbox) sweep(t *template) (dirty bool, err error) {
	seen := false
	for range sweepTries {
		before := lastPID()
		left := s.strangers(t.pids())
		if seen = len(left) > 0; !seen && lastPID() == before {
			break
		}
		if seen {
			dirty = true
			s.killStrangers(left)
		}
		time.Sleep(time.Millisecond)
	}
	s.reap(t)
	if seen {
		return true, errOutrun
	}
	return dirty, nil
}

// killStrangers ends processes. By user it is one call that the kernel carries
// out for all of them at once, so that a fork bomb cannot outrun it; the
// template and the waiting children die too.
func (s *Sandbox) killStrangers(left []process) {
	switch {
	case !s.layers.sole:
		for _, p := range left {
			_ = unix.Kill(p.pid, unix.SIGKILL)
		}
	case s.layers.identity.drop():
		if err := guard.KillAllOf(s.layers.identity.uid, s.layers.identity.gid); err != nil {
			s.log.Error("sweep", "error", err.Error())
		}
	default:
		_ = unix.Kill(-1, unix.SIGKILL) // spares the caller and process 1 (kill(2))
	}
}

// reap takes the end of orphans that came to us, but not the template's: that
// is waited for elsewhere.
func (s *Sandbox) reap(t *template) {
	for _, p := range processes() {
		if p.state == 'Z' && p.parent == os.Getpid() && p.pid != t.cmd.Process.Pid {
			_, _ = unix.Wait4(p.pid, nil, unix.WNOHANG, nil)
		}
	}
}

// emptyTemporary removes what appeared in the system's temporary folders since
// the start. Only in a place of our own: elsewhere the files are somebody's.
func (s *Sandbox) emptyTemporary() {
	for folder, had := range s.temporary {
		names, _ := os.ReadDir(folder)
		for _, name := range names {
			path := filepath.Join(folder, name.Name())
			if !slices.Contains(had, name.Name()) && path != s.base && ownedBy(path, s.layers.identity.uid) {
				_ = os.Remove(path)
				_, _ = removeTrees([]string{path})
			}
		}
	}
}

func ownedBy(path string, uid int) bool {
	var st unix.Stat_t
	return unix.Lstat(path, &st) == nil && int(st.Uid) == uid
}

// listTemporary remembers what the temporary folders held.
func listTemporary() map[string][]string {
	had := map[string][]string{}
	for _, folder := range []string{os.TempDir(), "/tmp", "/var/tmp", "/dev/shm"} {
		names, err := os.ReadDir(folder)
		if err != nil {
			continue
		}
		had[folder] = []string{}
		for _, name := range names {
			had[folder] = append(had[folder], name.Name())
		}
	}
	return had
}
