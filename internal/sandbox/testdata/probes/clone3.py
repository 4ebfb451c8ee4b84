# Makes a second process with clone3(2), whose flags lie in memory where a
# filter cannot see them.
# kind: processes
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it. Where it is missing, the server ends what a
#   run leaves before it answers.
# unconfined: passed

with attempt("a second process ran"):
    reap(call((435, 435), struct.pack("8Q", 0, 0, 0, 0, 17, 0, 0, 0), 64))
