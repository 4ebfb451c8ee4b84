# Asks the job channel for a process descriptor of the server.
# kind: memory
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses the question. The descriptor gives no right
#   that the user has not.
# unconfined: passed

with attempt("a process descriptor of the server"):
    socket.socket(fileno=os.dup(3)).getsockopt(socket.SOL_SOCKET, 77, 4)  # SO_PEERPIDFD
