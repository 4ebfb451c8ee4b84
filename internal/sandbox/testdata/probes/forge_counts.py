# Tells of more refusals than there can be, with numbers and texts of any size.
# kind: verdict
# lies: yes
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: held (there is no verdict to forge)

with attempt("a lie"):
    key = token()
    work()
    long, dirty = "LIE" * 13000, "LIE\r\n\0\u2028\x1b[31m"
    for line in (0, -1, 2**31, 2**62, None):
        for text in (long, dirty, ""):
            for rule in ("import_denied", "operation_denied", "completed", "", long):
                refusal = json.dumps({"rule": rule, "target": text, "file": text, "line": line})
                os.write(3, key + b"B" + refusal.encode())
    for words in ({"exit_code": 10**30}, {"blocked_count": 1e300}, {"error": "LIE"}, {"end": 7}, {"value": [1]}):
        tell(key, **words)  # not what it should be: nobody hears it
    tell(key, end="exception", exit_code=2**62 + 256, value=long, refused="import_denied", blocked_count=2**62,
         error={"type": dirty + long, "message": long, "traceback": long, "line": -2**62})
    ended()
