# Asks the job channel who the server is.
# kind: memory
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses the question. The answer is a number.
# unconfined: passed

with attempt("the server's process id"):
    socket.socket(fileno=os.dup(3)).getsockopt(socket.SOL_SOCKET, 17, 12)  # SO_PEERCRED
