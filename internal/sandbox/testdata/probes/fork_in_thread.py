# Forks in a thread that was started after the filter was put in place.
# kind: processes
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it. Where it is missing, the server ends what a
#   run leaves before it answers.
# unconfined: passed

import threading

def attack():
    with attempt("a thread made a second process"):
        reap(os.fork())

thread = threading.Thread(target=attack)
thread.start()
thread.join()
