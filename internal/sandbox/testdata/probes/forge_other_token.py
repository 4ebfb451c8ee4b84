# Sends reports that begin like the one of another run, with tokens that it
# makes up from its own.
# kind: verdict
# lies: yes
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: held (there is no verdict to forge)

with attempt("a lie"):
    key = token()
    work()
    others = [key.upper() + b"0", key[::-1], key[1:] + key[:1], key[:-1], b"0" * len(key), b"\0" * len(key), bytes.fromhex(key.decode()),
              os.urandom(16).hex().encode(), b" " + key, b"R" + key, b"B" + key, b"", b"ready", b"failed ", json.dumps({"id": 1}).encode()]
    for other in others:
        if other != key:
            tell(other, value="not of this run")
            os.write(3, other + b"B" + b'{"rule":"import_denied","target":"not of this run","file":"x","line":1}')
    tell(key)
    ended()
