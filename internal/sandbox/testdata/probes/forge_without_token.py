# Writes a verdict of its own to the job channel, without the token that makes
# it count.
# kind: verdict
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: held (there is no verdict to forge)

import time

REPORT = (b'R{"end":"completed","exit_code":0,"value":"PASSED a report without the token","error":null,'
          b'"refused":"","memory":false,"disk":false,"blocked_count":0}')
with attempt("the run goes on in spite of it", errno.EPIPE):
    for token in (b"", b"0" * 32, b"ready", b"None"):
        os.write(3, token + REPORT)
    time.sleep(0.1)
    raise Refused("the run goes on")
