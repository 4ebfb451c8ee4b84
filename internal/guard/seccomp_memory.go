//go:build linux

package guard

import "golang.org/x/sys/unix"

// Flags that are the same on both architectures, which package unix does not
// have for both (linux/mman.h, asm-generic/mman.h, asm-generic/mman-common.h,
// linux/membarrier.h).
const (
	mapType      = 0x0f // MAP_TYPE: shared, private or droppable
	mapDroppable = 0x08 // MAP_DROPPABLE, Linux 6.11
	map32Bit     = 0x40 // MAP_32BIT and MAP_ABOVE4G of x86-64; no flag on arm64
	mapAbove4G   = 0x80

	mapMay = unix.MAP_FIXED | unix.MAP_FIXED_NOREPLACE | map32Bit | mapAbove4G | unix.MAP_DENYWRITE | unix.MAP_EXECUTABLE |
		unix.MAP_NORESERVE | unix.MAP_POPULATE | unix.MAP_NONBLOCK | unix.MAP_STACK

	adviseGuard   = 102 // MADV_GUARD_INSTALL, Linux 6.13
	adviseUnguard = 103 // MADV_GUARD_REMOVE

	// MEMBARRIER_CMD_PRIVATE_EXPEDITED, …_SYNC_CORE and …_RSEQ, and to register for each.
	barrierPrivate = 1<<3 | 1<<4 | 1<<5 | 1<<6 | 1<<7 | 1<<8
)

// memoryForms are the calls about memory whose flags reach beyond the process.
func memoryForms() []entry {
	return []entry{
		mapForms(),
		adviceForms(),
		// What realloc and a mapping's resize pass, and a place. MREMAP_DONTUNMAP
		// is for userfaultfd, which is refused (mremap(2)).
		where("mremap", form(within(3, unix.MREMAP_MAYMOVE|unix.MREMAP_FIXED))),
		// Barriers among the process's own threads, and the question what there
		// is. The global ones make the processors of all processes that asked for
		// it stop for a moment, or wait for all (membarrier(2)).
		where("membarrier", form(within(0, barrierPrivate))),
	}
}

// mapForms are memory of the process's own, and files. Left out is what RLIMIT_AS
// or RLIMIT_MEMLOCK does not count, or the host has only so much of:
//   - MAP_SHARED memory of no file is a file without a name: one page of it
//     keeps all of it, when the rest is unmapped and out of both counts (mmap(2),
//     shmem_zero_setup in mm/shmem.c). Python asks for it by default, and gets
//     private memory: own_memory in python/memory.py;
//   - MAP_HUGETLB and its sizes take from the host's pool of huge pages and are
//     in no count of resident memory (mmap(2), proc(5) on VmRSS);
//   - MAP_LOCKED keeps memory from being swapped out; RLIMIT_MEMLOCK is 0 too;
//   - MAP_GROWSDOWN grows by itself; stacks of threads do without it, and
//     the kernel's code for it was a way out (CVE-2023-3269);
//   - MAP_SYNC is for persistent memory, MAP_UNINITIALIZED for machines
//     without a memory management unit.
//
// MAP_POPULATE only asks at once for what would come page by page. MAP_NORESERVE,
// MAP_DENYWRITE, MAP_EXECUTABLE and MAP_STACK do nothing that counts (mmap(2)).
// glibc 2.41 keeps the state of its random numbers in MAP_DROPPABLE memory.
func mapForms() entry {
	return where("mmap",
		form(test{3, ^uint32(mapMay | unix.MAP_ANONYMOUS), []uint32{unix.MAP_PRIVATE, mapDroppable}}),
		form(within(3, mapMay|mapType)))
}

// adviceForms are the advices that C libraries, allocators and numpy give on
// memory of their own: how it will be read, that it is no longer needed, huge
// pages, what a dump or a fork takes along, and guard pages (glibc 2.42). The
// rest gets EINVAL, the kernel's answer to what it does not know, on which glibc
// falls back (madvise(2)). Of these
//   - MADV_MERGEABLE has equal pages of all processes merged, and the time that
//     it takes to write to one then tells what another run holds
//     (Documentation/admin-guide/mm/ksm.rst);
//   - MADV_HWPOISON and MADV_SOFT_OFFLINE take memory from the host; they need
//     CAP_SYS_ADMIN;
//   - MADV_COLD and MADV_PAGEOUT push pages out that others may have mapped, to
//     the disk if need be; MADV_COLLAPSE has the kernel copy at once;
//   - MADV_REMOVE cuts holes into files as fallocate does, which is a stub.
func adviceForms() entry {
	return where("madvise", form(is(2,
		unix.MADV_DONTNEED, unix.MADV_HUGEPAGE, unix.MADV_FREE,
		unix.MADV_NORMAL, unix.MADV_RANDOM, unix.MADV_SEQUENTIAL, unix.MADV_WILLNEED, unix.MADV_NOHUGEPAGE,
		unix.MADV_DONTDUMP, unix.MADV_DODUMP, unix.MADV_DONTFORK, unix.MADV_DOFORK,
		unix.MADV_WIPEONFORK, unix.MADV_KEEPONFORK, unix.MADV_POPULATE_READ, unix.MADV_POPULATE_WRITE,
		adviseGuard, adviseUnguard))).orElse(answer(unix.EINVAL))
}
