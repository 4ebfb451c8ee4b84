"""Listen where no snippet may ever connect: a unix socket and a TCP port.

canary.py SOCKET HOST:PORT prints one line when both listen and runs until it is killed.
What connects is closed at once; a snippet that got so far has failed its case.
"""

import os
import selectors
import socket
import sys


def main(path, address):
    host, port = address.rsplit(":", 1)
    if os.path.exists(path):
        os.unlink(path)
    inner = socket.socket(socket.AF_UNIX)
    inner.bind(path)
    os.chmod(path, 0o666)
    outer = socket.socket()
    outer.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    outer.bind((host, int(port)))
    ready = selectors.DefaultSelector()
    for listener in (inner, outer):
        listener.listen()
        ready.register(listener, selectors.EVENT_READ)
    print("canaries listen", flush=True)
    while True:
        for key, _ in ready.select():
            key.fileobj.accept()[0].close()


if __name__ == "__main__":
    main(*sys.argv[1:])
