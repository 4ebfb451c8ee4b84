# Receives descriptors over the job channel.
# kind: channel
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it; the server takes no descriptor and does not
#   wait for an answer.
# unconfined: passed

with attempt("the kernel looked for a message"):
    try:
        socket.socket(fileno=os.dup(3)).recvmsg(1, 64, socket.MSG_DONTWAIT)
    except BlockingIOError:
        pass
