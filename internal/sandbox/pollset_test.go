package sandbox

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestPollSet(t *testing.T) {
	p, err := newPollSet()
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	var always, once [2]int
	for _, ends := range []*[2]int{&always, &once} {
		if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
			t.Fatal(err)
		}
		defer closeFDs(ends[:]...)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	tells := func(wait func(time.Duration) ([]unix.EpollEvent, error), want ...int) {
		t.Helper()
		began := time.Now()
		ready, err := wait(20 * time.Millisecond)
		took := time.Since(began)
		var got []int
		for _, e := range ready {
			got = append(got, int(e.Fd))
		}
		if err != nil || len(got) != len(want) || len(got) > 0 && got[0] != want[0] {
			t.Errorf("ready %v, want %v; error %v", got, want, err)
		}
		if len(want) == 0 && took < 20*time.Millisecond {
			t.Errorf("it waited %s for nothing", took)
		}
	}
	put := func(fd int) { _, err := unix.Write(fd, []byte("x")); must(err) }

	must(p.add(-1))
	must(p.add(always[0]))
	must(p.addOnce(once[0]))
	put(once[1])
	for _, wait := range []func(time.Duration) ([]unix.EpollEvent, error){p.wait, p.waitExactly} {
		tells(wait) // not asked for
		must(p.again(once[0]))
		tells(wait, once[0])
		tells(wait)
	}
	put(always[1])
	tells(p.wait, always[0])
	tells(p.waitExactly, always[0])
	must(p.remove(always[0]))
	tells(p.wait)
	time.AfterFunc(10*time.Millisecond, func() { p.again(once[0]) })
	tells(p.wait, once[0])

	must(p.file.SetReadDeadline(time.Time{}))
	time.AfterFunc(10*time.Millisecond, p.close)
	if _, err := p.await(); err == nil {
		t.Error("a closed set waits without an error")
	}
	if _, err := p.wait(time.Second); err == nil {
		t.Error("a closed set can be waited for")
	}
}
