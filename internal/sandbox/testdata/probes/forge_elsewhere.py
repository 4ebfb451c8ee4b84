# Has another process do its work, so that its time and memory are not its own.
# kind: verdict
# lies: yes
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter keeps a run from having a second process. Where it is
#   missing, processor time and memory are those of the first.
# unconfined: held (there is no verdict to forge)

with attempt("a lie"):
    key = token()
    try:
        helper = os.fork()
    except OSError:
        helper = None
    if helper == 0:
        toil()
        os._exit(0)
    if helper is not None:
        os.waitpid(helper, 0)
    work(here=helper is None)
    tell(key)
    ended()
