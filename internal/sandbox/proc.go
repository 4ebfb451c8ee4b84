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

func taskStatusNumber(task, field string) int64 {
	var buf [4096]byte
	fd, err := unix.Open(task+"/status", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	defer closeFDs(fd)
	n, err := unix.Read(fd, buf[:])
	if err != nil || n <= 0 {
		return 0
	}
	_, rest, found := bytes.Cut(buf[:n], []byte("\n"+field+":"))
	if !found {
		return 0
	}
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	fields := bytes.Fields(line)
	if len(fields) == 0 {
		return 0
	}
	value, _ := strconv.ParseInt(string(fields[0]), 10, 64)
	return value
}
