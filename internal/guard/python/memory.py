"""Memory of no file: mmap.mmap(-1, ...) maps what is the process's own."""

import mmap

BOTH = mmap.PROT_READ | mmap.PROT_WRITE
TYPE = 0x0F  # MAP_TYPE, linux/mman.h


def own_memory():
    """Have mmap.mmap map private memory where it would map shared memory of no file, its default.

    The filter refuses that. One process has nobody to share it with, so private memory does the same.
    """
    plain = mmap.mmap

    class Map(plain):
        __slots__ = ()

        def __new__(cls, fileno, length, flags=mmap.MAP_SHARED, prot=BOTH, access=mmap.ACCESS_DEFAULT, offset=0, **more):
            if fileno == -1:
                if access == mmap.ACCESS_WRITE and (flags, prot) == (mmap.MAP_SHARED, BOTH):
                    access = mmap.ACCESS_DEFAULT  # the same, and takes flags
                if access == mmap.ACCESS_DEFAULT and flags & TYPE == mmap.MAP_SHARED:
                    flags = flags & ~TYPE | mmap.MAP_PRIVATE
            return plain.__new__(cls, fileno, length, flags, prot, access, offset, **more)

    Map.__name__ = Map.__qualname__ = plain.__name__
    Map.__module__, Map.__doc__ = plain.__module__, plain.__doc__
    mmap.mmap = Map
