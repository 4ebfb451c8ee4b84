# Receives descriptors over the job channel.
# kind: channel
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("the kernel looked for a message"):
    try:
        socket.socket(fileno=os.dup(3)).recvmsg(1, 64, socket.MSG_DONTWAIT)
    except BlockingIOError:
        pass
