package service

import (
	"time"

	"cloche/internal/snippet"
)

// DemoCase is a snippet of the demo set and what must come of it.
type DemoCase struct {
	Name    string
	Shows   string // what there is to see, in a few words
	Code    string
	Timeout time.Duration
	Reason  snippet.Reason // expected; the outcome goes with it
}

// demoTimeout is for the cases that are not about time. It is far more than
// they need, so that a busy machine does not change what comes of them.
const demoTimeout = 3 * time.Second

// DemoSet lists the cases in the order in which they run. It is the same each
// time: five are OK, six BLOCKED, one is a TIMEOUT and four are an ERROR.
func DemoSet() []DemoCase {
	return []DemoCase{
		{"arithmetic", "safe code runs, and gives its last value back", arithmeticCode, demoTimeout, snippet.Completed},
		{"math", "the module math", mathCode, demoTimeout, snippet.Completed},
		{"json", "the module json", jsonCode, demoTimeout, snippet.Completed},
		{"collections", "the module collections", collectionsCode, demoTimeout, snippet.Completed},
		{"own folder", "files in the run's own folder", folderCode, demoTimeout, snippet.Completed},

		{"system", "no access to the operating system", "import os\nos.getcwd()", demoTimeout, snippet.ImportDenied},
		{"process", "no other program", "import subprocess\nsubprocess.run(['id'])", demoTimeout, snippet.ImportDenied},
		{"network", "no connection", "import socket\nsocket.create_connection(('192.0.2.1', 80))", demoTimeout, snippet.ImportDenied},
		{"native code", "no way around the interpreter", "import ctypes\nctypes.CDLL(None)", demoTimeout, snippet.ImportDenied},
		{"import machinery", "no way around the import policy", "import importlib\nimportlib.import_module('os')", demoTimeout, snippet.ImportDenied},
		{"file outside", "no file but its own", "open('/etc/passwd').read()", demoTimeout, snippet.OperationDenied},

		{"infinite loop", "the deadline ends what does not end", "while True:\n    pass", 300 * time.Millisecond, snippet.Deadline},

		{"syntax error", "code that is not Python", "def broken(:\n    pass", demoTimeout, snippet.SyntaxError},
		{"exception", "an exception with its line", "prices = {'tea': 3}\nprices['coffee']", demoTimeout, snippet.Exception},
		{"exit status", "the snippet's own exit status", "import sys\nsys.exit(3)", demoTimeout, snippet.ExitStatus},
		{"memory", "more memory than there may be", "block = bytearray(1 << 42)", demoTimeout, snippet.MemoryLimit},
	}
}

// The codes that take more than a line. They check their own results, so that a
// wrong one is not OK.
const (
	arithmeticCode = `squares = [n * n for n in range(1, 11)]
assert sum(squares) == 385
sum(squares)`
	mathCode = `import math
assert math.isclose(math.hypot(3, 4), 5)
math.factorial(20)`
	jsonCode = `import json
order = json.loads('{"items": [{"price": 2.5}, {"price": 4}]}')
assert json.dumps(order, separators=(",", ":")) == '{"items":[{"price":2.5},{"price":4}]}'
sum(item["price"] for item in order["items"])`
	collectionsCode = `from collections import Counter, deque
window = deque(range(10), maxlen=3)
assert list(window) == [7, 8, 9]
Counter("mississippi").most_common(2)`
	folderCode = `from pathlib import Path
note = Path("note.txt")
note.write_text("seedling")
assert note.read_text() == "seedling"`
)
