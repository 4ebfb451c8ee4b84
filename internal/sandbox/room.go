package sandbox

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// serverTasks are kept free for the server itself: a Go program that cannot have
// a thread when it needs one ends (newosproc in runtime/os_linux.go).
const serverTasks = 64

// leastRoom is too little for any run to have a thread of its own.
const leastRoom = 16

// room is how many tasks the children's user may have, all together, so that no
// flood of theirs takes what the server needs.
type room struct {
	tasks int
	by    string // what bounds it
}

// bound is one limit on tasks: how many more there may be.
type bound struct {
	left int
	by   string
}

// findRoom looks at every limit on tasks that this process meets.
func findRoom(id identity) room {
	found := room{tasks: math.MaxInt32, by: "nothing"}
	counted := 0 // tasks of the children's user that are there already
	if !id.drop() {
		counted = tasksOf(id.uid)
	}
	for _, b := range append([]bound{userBound(id, counted), kernelBound("threads-max"), kernelBound("pid_max")}, groupBounds()...) {
		if tasks := counted + b.left - serverTasks; tasks < found.tasks {
			found = room{max(tasks, 0), b.by}
		}
	}
	return found.within(hardLimit())
}

// within holds the room to the hard limit that a child finds: it cannot set itself
// a higher one, whoever it is.
func (r room) within(hard uint64) room {
	if uint64(r.tasks) <= hard {
		return r
	}
	return room{int(hard), fmt.Sprintf("ulimit -Hu, %d,", hard)}
}

func hardLimit() uint64 {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NPROC, &limit) != nil {
		return math.MaxInt32
	}
	return limit.Max
}

// check says at the start what the room is not enough for. It is an error where
// not even a few tasks fit.
func (r room) check(runs, threads int) (warning string, err error) {
	if r.tasks < leastRoom {
		return "", fmt.Errorf("there is room for %d processes and threads of snippets (%s); at least %d are needed", r.tasks, r.by, leastRoom)
	}
	if need := runs * (threads + 1); r.tasks < need {
		return fmt.Sprintf("%d runs with %d threads each would need %d tasks, and %s leaves %d: such runs may be refused threads",
			runs, threads, need, r.by, r.tasks), nil
	}
	return "", nil
}

// userBound is RLIMIT_NPROC, which counts all tasks of a user, and binds nobody
// who is root (getrlimit(2)).
func userBound(id identity, counted int) bound {
	var limit unix.Rlimit
	if id.drop() || id.uid == 0 || unix.Getrlimit(unix.RLIMIT_NPROC, &limit) != nil || limit.Cur > math.MaxInt32 {
		return bound{math.MaxInt32, ""}
	}
	return bound{int(limit.Cur) - counted, fmt.Sprintf("ulimit -u, %d,", limit.Cur)}
}

// kernelBound is a limit on the tasks of the whole machine (proc_sys_kernel(5)).
func kernelBound(name string) bound {
	most, err := readCount("/proc/sys/kernel/" + name)
	if err != nil {
		return bound{math.MaxInt32, ""}
	}
	return bound{most - allTasks(), "kernel." + name}
}

// allTasks counts the tasks of the machine, as /proc/loadavg tells them.
func allTasks() int {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 4 {
		return 0
	}
	_, total, _ := strings.Cut(fields[3], "/")
	n, _ := strconv.Atoi(total)
	return n
}

// groupBounds are the limits of the control groups that this process is in, of
// either version (cgroups(7), "pids").
func groupBounds() (found []bound) {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		switch {
		case fields[1] == "":
			found = append(found, groupBound("/sys/fs/cgroup", fields[2])...)
		case fields[1] == "pids":
			found = append(found, groupBound("/sys/fs/cgroup/pids", fields[2])...)
		}
	}
	return found
}

// groupBound reads the limits of a group and of those above it.
func groupBound(mount, group string) (found []bound) {
	for dir := filepath.Join(mount, group); strings.HasPrefix(dir, mount); dir = filepath.Dir(dir) {
		most, err := readCount(dir + "/pids.max")
		if err != nil {
			continue // without a limit: not a number
		}
		now, _ := readCount(dir + "/pids.current")
		found = append(found, bound{most - now, fmt.Sprintf("the control group's pids.max, %d,", most)})
	}
	return found
}

func readCount(path string) (int, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}
