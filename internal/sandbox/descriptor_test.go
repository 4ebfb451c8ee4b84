package sandbox

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// A server that runs out of descriptors half-way through a child or a template
// closes what it opened and nothing else: a number that it closes by mistake may
// be a caller's connection by then.
func TestOutOfDescriptors(t *testing.T) {
	s := newSandbox(t, Config{Workers: 1, Log: quiet.Log})
	s.fine(t)
	usual := unix.Rlimit{}
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &usual); err != nil {
		t.Fatal(err)
	}
	before, zero := s.settled(t, 1), standardInput() // what a number that was never given stands for
	for _, try := range []struct {
		what string
		most int // numbers that are enough for it, some of which others have
		do   func() error
	}{
		{"a child", 400, func() error {
			c, err := s.spawn(s.living())
			if err == nil {
				s.discard(c)
			}
			return err
		}},
		{"a template", 400, func() error {
			heir, err := s.startTemplate(atOnce)
			s.end(heir)
			return err
		}},
	} {
		failed, made, last := 0, false, error(nil)
		for room := 0; room <= try.most && !made; room++ {
			free, err := unix.Dup(0)
			if err != nil {
				t.Fatal(err)
			}
			closeFDs(free)
			few := unix.Rlimit{Cur: uint64(free + room), Max: usual.Max}
			if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &few); err != nil {
				t.Fatal(err)
			}
			err = try.do()
			if back := unix.Setrlimit(unix.RLIMIT_NOFILE, &usual); back != nil {
				t.Fatal(back)
			}
			last = err
			if made = err == nil; !made {
				failed++
			}
			if now := standardInput(); now != zero {
				t.Fatalf("%s, room for %d: descriptor 0 is %q, was %q", try.what, room, now, zero)
			}
		}
		if failed < 4 || !made {
			t.Errorf("%s failed %d times; made at last: %v, %v", try.what, failed, made, last)
		}
	}
	s.backTo(t, before)
	s.fine(t)
}

func standardInput() string {
	target, err := os.Readlink("/proc/self/fd/0")
	if err != nil {
		return err.Error()
	}
	return target
}
