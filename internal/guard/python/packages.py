"""What the template loads besides the standard library, and what each child does on account of it."""

import gc
import os
import sys
import tempfile
from importlib import import_module
from time import sleep

# Parts of a package that are as good as always used and that it loads when they are first asked for.
PARTS = {
    "numpy": ("numpy.linalg", "numpy.fft", "numpy.random"),
    "matplotlib": ("matplotlib.pyplot", "matplotlib.backends.backend_agg"),
}
STATE = 624  # words of 32 bits that the Mersenne twister keeps


class Unloadable(Exception):
    """A package cannot be preloaded."""

    def __init__(self, name, why):
        super().__init__(f"{name} cannot be preloaded: {' '.join(why.split())[:500]}")


def threads():
    """How many threads this process has. A folder's links count its subfolders, and no file wall
    hides that. Where /proc is not to be seen at all, the parent alone looks."""
    try:
        return os.stat("/proc/self/task").st_nlink - 2
    except OSError:
        return 1


def alone():
    """Whether no second thread stays: one that has been told to end is given a moment."""
    for _ in range(100):
        if threads() <= 1:
            return True
        sleep(0.01)
    return False


def lowest_free():
    """The number that the next file would get: a higher one than before when a file stays open."""
    fd = os.dup(0)
    os.close(fd)
    return fd


def closed(free):
    """Whether no file stays open: one that waits for the collector is given up."""
    return lowest_free() == free or gc.collect() >= 0 and lowest_free() == free


class Packages:
    """The preloaded packages.

    Without must those of names that are not installed are left out. One that is there and does not
    load is always an error: half of it would stay. home is an empty folder for packages that write
    while they load; it is gone when the first child is made.
    """

    def __init__(self, names, must, home):
        self.loaded = []
        self._numpy = None
        if names:
            os.environ["HOME"] = os.environ["TMPDIR"] = home
            self._load(names, must)
            for name in ("HOME", "TMPDIR"):
                os.environ.pop(name, None)
            tempfile.tempdir = None  # it may have been asked for, and was the home
        if "numpy.random" in sys.modules:  # also when it came with another package
            self._numpy = sys.modules["numpy"]
            self.reseed()

    def _load(self, names, must):
        for name in names:
            free = lowest_free()
            try:
                for module in (name, *PARTS.get(name, ())):
                    import_module(module)
            except BaseException as e:  # packages raise what they like
                if not must and isinstance(e, ModuleNotFoundError) and e.name == name:
                    continue
                raise Unloadable(name, f"{type(e).__name__}: {e}") from None
            if not alone():
                raise Unloadable(name, "it leaves threads behind, which no child would have")
            if not closed(free):
                raise Unloadable(name, "it keeps files open, which no child would have")
            self.loaded.append(name)

    def reseed(self):
        """Give a child random numbers of its own in numpy's global generator, the one that every
        fork would repeat: Python's is reseeded at a fork, numpy's others ask the system for a seed.
        numpy's own seed() would do the same with three times the page faults."""
        if self._numpy is not None:
            key = self._numpy.frombuffer(os.urandom(4 * STATE), self._numpy.uint32)
            self._numpy.random.set_state(("MT19937", key, STATE, 0, 0.0))

    def rehearse(self):
        """Touch what runs touch that use numpy, the buffers of its linear algebra above all."""
        if self._numpy is not None:
            table = self._numpy.arange(10000.0).reshape(100, 100)
            repr(float((table @ table).sum()))
