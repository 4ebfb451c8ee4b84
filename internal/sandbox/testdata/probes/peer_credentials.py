# Asks the job channel who the server is.
# kind: memory
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("the server's process id"):
    socket.socket(fileno=os.dup(3)).getsockopt(socket.SOL_SOCKET, 17, 12)  # SO_PEERCRED
