"""One child: confine itself, warm up, run one snippet, report, wait to be killed."""

import gc
import os
import time

from cloche_run import JOB

# Above the largest packet that the channel carries. What of it no packet reaches is never touched.
INBOX = bytearray(1 << 18)


def own_folders():
    """The work and the temporary folder of this child. The template never learns their names, which
    its later children could find in its memory."""
    return os.read(JOB, 1 << 13).decode("utf-8", "surrogateescape").split("\0")  # two paths


def live(confinement, run, packages, rehearsal):
    """The whole life of a child. Does not return."""
    try:
        confinement.enter()
        work, tmp = own_folders()
        os.chdir(work)
        run.enter(work, tmp)
        packages.reseed()
        gc.enable()
        INBOX[0] = 0  # the kernel would meet its page while it brings the job
        os.write(JOB, b"ready")
    except BaseException as e:
        os.write(JOB, b"failed " + f"{type(e).__name__}: {e}".encode("utf-8", "backslashreplace")[:500])
        os._exit(70)
    rehearsal.in_child()
    size = os.readv(JOB, [INBOX])
    if size:
        try:
            run.job(bytes(memoryview(INBOX)[:size]))
        except MemoryError:
            run.no_memory()
        except BaseException:  # whatever the snippet bent: no frame of ours is its business
            os._exit(1)
        while True:
            time.sleep(3600)  # the parent takes its measurements, then kills
    os._exit(0)
