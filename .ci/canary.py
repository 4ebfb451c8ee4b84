"""Lay out what no snippet may ever reach: a file, a unix socket and a TCP port.

canary.py FOLDER HOST:PORT prints one line when all is there and runs until it is
killed. The port is taken first: who has it owns the folder, and what a killed run
left in it is removed. A connection is closed at once.
"""

import os
import selectors
import shutil
import socket
import sys


def main(folder, address):
    host, port = address.rsplit(":", 1)
    outer = socket.socket()
    outer.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        outer.bind((host, int(port)))
        outer.listen()
    except OSError as e:
        sys.exit(f"canary: {address} cannot be listened on: {e.strerror}; does another run use it?")
    if os.path.isdir(folder):
        shutil.rmtree(folder)
    os.mkdir(folder)
    with open(os.path.join(folder, "outside.txt"), "w") as f:
        f.write("cnry-file-91b2")
    inner = socket.socket(socket.AF_UNIX)
    inner.bind(os.path.join(folder, "s.sock"))
    inner.listen()
    for name, mode in ("", 0o755), ("outside.txt", 0o644), ("s.sock", 0o666):
        os.chmod(os.path.join(folder, name), mode)
    serve(inner, outer)


def serve(*listeners):
    ready = selectors.DefaultSelector()
    for listener in listeners:
        ready.register(listener, selectors.EVENT_READ)
    print("canaries are out", flush=True)
    while True:
        for key, _ in ready.select():
            key.fileobj.accept()[0].close()


if __name__ == "__main__":
    main(*sys.argv[1:])
