# Says that it was done in time when its time is long over.
# kind: verdict
# lies: yes
# timeout: 2s
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: held (there is no verdict to forge)

with attempt("a lie"):
    key = token()
    seconds = float(input())  # that it has
    work()
    time.sleep(2.5 * seconds)
    tell(key)
    ended()
