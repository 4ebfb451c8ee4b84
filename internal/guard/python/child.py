"""One child: confine itself, warm up, run one snippet, report, wait to be killed."""

import gc
import os
import resource
import select
import time

from cloche_kernel import close_to_others, die_with_parent
from cloche_run import JOB

PACKET = 1 << 18  # above the largest packet that the channel carries


def confine(config, wall, fence, folders, template):
    """Give up everything that the run does not need. Any failure is an exception: nothing runs."""
    die_with_parent(template, config["prctl"])
    os.chdir(folders[0])
    for name, value in config["rlimits"].items():
        resource.setrlimit(getattr(resource, name), (value, value))
    if wall is not None:
        wall.close_behind(folders)
    elif config["prctl"]:  # under Landlock no run sees another's /proc, and the parent may look in
        close_to_others()
    os.closerange(JOB + 1, 1 << 20)
    if fence is not None:
        fence.install("seccomp child filter")


def use_descriptors(fds):
    """Put the received descriptors where they belong: 0, 1, 2 and the job channel."""
    high = [os.dup(fd) for fd in fds]  # no received number may be overwritten before its turn
    for want, fd in zip((JOB, 0, 1, 2), high):
        os.dup2(fd, want, inheritable=False)


def own_folders():
    """The work and the temporary folder of this child. The template never learns their names, which
    its later children could find in its memory."""
    return os.read(JOB, PACKET).decode("utf-8", "surrogateescape").split("\0")


def live(config, wall, fence, run, packages, rehearsal, fds, template):
    """The whole life of a child. Does not return."""
    use_descriptors(fds)
    try:
        folders = own_folders()
        run.enter(*folders)
        confine(config, wall, fence, folders, template)
        packages.reseed()
        gc.enable()
        os.write(JOB, b"ready")
    except BaseException as e:
        os.write(JOB, b"failed " + f"{type(e).__name__}: {e}".encode("utf-8", "backslashreplace")[:500])
        os._exit(70)
    poller = select.poll()
    poller.register(JOB, select.POLLIN)
    rehearsal.in_child(poller)
    packet = os.read(JOB, PACKET)
    if packet:
        try:
            run.job(packet)
        except MemoryError:
            run.no_memory()
        except BaseException:  # whatever the snippet bent: no frame of ours is its business
            os._exit(1)
        while True:
            time.sleep(3600)  # the parent takes its measurements, then kills
    os._exit(0)
