# Sends the server a descriptor over the job channel.
# kind: channel
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it; the server takes no descriptor and does not
#   wait for an answer.
# unconfined: passed

with attempt("a descriptor was sent"):
    socket.socket(fileno=os.dup(3)).sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("i", 0))])
