# Sends many reports, from many threads at once, and goes on after the first.
# kind: verdict
# lies: yes
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: held (there is no verdict to forge)

with attempt("a lie"):
    import threading

    key = token()
    work()
    start = threading.Barrier(8)


    def one(number):
        start.wait()
        for value in ("LIE", "LIE and another"):
            tell(key, value=value, exit_code=number % 2 * 256)


    threads = [threading.Thread(target=one, args=[number]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ended()
