# Finds the token in its own memory and writes a verdict with it.
# kind: channel
# passes: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# why: A run can always lie about itself: it shares memory with what reports.
#   The server believes it about how the snippet ended, its value and its
#   error, and about no other run; time, memory, signals, output and files are
#   seen from outside.
# unconfined: held (there is no verdict to forge)

import time

REPORT = (b'R{"end":"completed","exit_code":0,"value":"PASSED its own verdict","error":null,'
          b'"refused":"","memory":false,"disk":false,"blocked_count":0}')
with attempt("the run goes on in spite of it"):
    frame = sys._getframe()
    while frame is not None and not hasattr(frame.f_locals.get("self"), "_token"):
        frame = frame.f_back
    if frame is None:
        raise Refused("no token in any frame")
    os.write(3, frame.f_locals["self"]._token + REPORT)
    time.sleep(2)
    raise Refused("the run goes on")
