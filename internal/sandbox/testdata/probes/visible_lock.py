# Whether another process has locked a file that both can read, such as one of
# the Python library, and the number of that process.
# kind: exposure
# hidden: nolandlock, mounts/user
# seen: all, landlock1, landlock2, mounts/root, noseccomp, neither
# why: SQLite asks for locks, and no layer tells files apart once they are open.
#   A run can lock such a file itself, by which two runs that agreed on it
#   before can tell each other something. Where no file can be opened there is
#   none to lock.
# unconfined: seen

with look("a lock of another process"):
    import fcntl
    with open(os.__file__, "rb") as file:
        lock = struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        kind, _, _, _, owner = struct.unpack("hhqqi", fcntl.fcntl(file, fcntl.F_GETLK, lock))
    if kind == fcntl.F_UNLCK or owner == 0:
        raise Refused("no lock")
