"""How long the runner takes from its start until it asks Lambda for work, and for its
first run: a stand-in for Lambda's runtime interface, and the image under it.

    init.py ADDRESS IMAGE FLAG...

ADDRESS is one of this machine that containers reach; FLAGs are those of docker run.
The shell in the container that tells when it started costs a millisecond or two.
"""

import base64
import http.server
import json
import statistics
import subprocess
import sys
import threading
import time

ROUNDS = 7
CODE = base64.b64encode(b"print(1)").decode()
ORDER = {
    "id": "01KAAAAAAAAAAAAAAAAAAAAAAA", "code": CODE, "timeout_ms": 5000, "stdin": "", "files": [],
    "limits": {"Memory": 256 << 20, "StdoutChars": 4000, "StderrChars": 2000, "FolderBytes": 64 << 20, "FolderEntries": 10_000,
               "OpenFiles": 256, "Threads": 256},
    "policy": {},
}


class Runtime(http.server.BaseHTTPRequestHandler):
    """Hands out two jobs, and keeps quiet after them."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    asked, replies, over = [], [], threading.Event()

    @classmethod
    def reset(cls):
        cls.asked, cls.replies, cls.over = [], [], threading.Event()

    def do_GET(self):
        self.asked.append(time.time())
        if len(self.asked) > 2:
            self.over.set()
            time.sleep(30)
            return
        body = json.dumps(ORDER).encode()
        self.send_response(200)
        self.send_header("Lambda-Runtime-Aws-Request-Id", "8476a536-e9f4-11e8-9739-2dfe598c3fcd")
        self.send_header("Lambda-Runtime-Deadline-Ms", str(int(1000 * time.time()) + 25_000))
        self.send_header("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:eu-central-1:123456789012:function:runner")
        self.send_header("Lambda-Runtime-Aws-Tenant-Id", "default")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        size = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(size) if size else b"".join(self.chunks())
        self.replies.append((time.time(), body))
        self.send_response(202)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def chunks(self):
        while n := int(self.rfile.readline().strip() or b"0", 16):
            yield self.rfile.read(n)
            self.rfile.readline()
        self.rfile.readline()

    def log_message(self, *_):
        pass


def once(address, port, image, flags):
    Runtime.reset()
    container = subprocess.check_output(
        ["docker", "run", "-d", *flags, "--cpus", "1", "--memory", "1769m", "-e", f"AWS_LAMBDA_RUNTIME_API={address}:{port}",
         "-e", "AWS_ACCESS_KEY_ID=some", "-e", "AWS_SECRET_ACCESS_KEY=some", image, "sh", "-c", "date +%s.%N; exec /app/runner"],
        text=True).strip()
    try:
        ended = Runtime.over.wait(30)
        log = subprocess.run(["docker", "logs", container], capture_output=True, text=True)
        if not ended:
            sys.exit("the runner did not run its jobs:\n" + log.stdout + log.stderr)
    finally:
        subprocess.run(["docker", "rm", "-f", container], stdout=subprocess.DEVNULL)
    for _, body in Runtime.replies:
        result = json.loads(body)["result"]
        if not result or result["stdout"] != "1\n":
            sys.exit(f"the runner's reply is not that of a run: {body[:500]}")
    began = float(log.stdout.split()[0])
    times = [Runtime.asked[0] - began] + [r[0] - a for r, a in zip(Runtime.replies, Runtime.asked)]
    return [1000 * t for t in times]


def main(address, image, *flags):
    server = http.server.ThreadingHTTPServer((address, 0), Runtime)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    rounds = [once(address, server.server_port, image, flags) for _ in range(ROUNDS)]
    init, first, second = (statistics.median(r) for r in zip(*rounds))
    verdict = "within" if init <= 400 else "OVER"
    print(f"FIGURE cold start, runner's start until it asks for work: {init:.0f} ms, {verdict} 400 "
          f"(from {min(r[0] for r in rounds):.0f} to {max(r[0] for r in rounds):.0f}); first run {first:.0f} ms, second {second:.0f} ms")
    sys.exit(init > 4000)


if __name__ == "__main__":
    main(*sys.argv[1:])
