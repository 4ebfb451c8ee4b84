package sandbox

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// cpuClock reads a process's CPU time. The clock id of another process is made
// from its pid (clock_getcpuclockid(3)); it works as long as the process has
// not been reaped.
func cpuClock(pid int) time.Duration {
	const processScheduled = 2 // CPUCLOCK_SCHED, linux/posix-timers.h
	var ts unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|processScheduled), &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

// livingTask is the folder in /proc of a thread that still has what the process
// has. Usually that is the process's own; its first thread may have left alone.
func livingTask(pid int) string {
	whole := "/proc/" + strconv.Itoa(pid)
	if _, err := os.Readlink(whole + "/exe"); err == nil {
		return whole
	}
	tasks, _ := os.ReadDir(whole + "/task")
	for _, t := range tasks {
		task := whole + "/task/" + t.Name()
		if _, err := os.Readlink(task + "/exe"); err == nil {
			return task
		}
	}
	return whole
}

// statusBytes reads a field of /proc/PID/status that is given in kB (proc(5)).
// It is 0 when the process or the field is gone, as for a zombie.
func statusBytes(pid int, field string) int64 { return statusNumber(pid, field) * 1024 }

// threads is how many threads a process has; 0 when it is gone.
func threads(pid int) int { return int(statusNumber(pid, "Threads")) }

func statusNumber(pid int, field string) int64 {
	return taskStatusNumber("/proc/"+strconv.Itoa(pid), field)
}

// openStatus opens the status of a process for many looks; -1 if that fails.
func openStatus(pid int) int { return openTaskStatus("/proc/" + strconv.Itoa(pid)) }

func openTaskStatus(task string) int {
	fd, err := unix.Open(task+"/status", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1
	}
	return fd
}

func taskStatusNumber(task, field string) int64 {
	fd := openTaskStatus(task)
	defer closeFDs(fd)
	return readStatusNumber(fd, field)
}

// readStatusNumber reads a field from an open status file; 0 if it is not there.
func readStatusNumber(fd int, field string) int64 {
	var buf [4096]byte
	n, err := unix.Pread(fd, buf[:], 0)
	if err != nil || n <= 0 {
		return 0
	}
	_, rest, found := bytes.Cut(buf[:n], []byte("\n"+field+":"))
	if !found {
		return 0
	}
	rest = bytes.TrimLeft(rest, " \t")
	end := bytes.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	value, _ := strconv.ParseInt(string(rest[:max(end, 0)]), 10, 64)
	return value
}
