package bench

import (
	"bytes"
	"time"

	"cloche/internal/snippet"
)

const (
	printCode = "print('hello')\n"

	libraryCode = `import collections, datetime, json, re
from dataclasses import dataclass

@dataclass
class Point:
    x: int
    y: int = 2

print(json.dumps({"p": Point(1).x}), re.sub(r"\d+", "n", "a1b22"))
print(collections.Counter("cloche").most_common(1), datetime.datetime(2026, 1, 2).isoformat())
`

	numpyCode = `import numpy
m = numpy.arange(10000.0).reshape(100, 100)
print(float((m @ m).sum()))
`

	chattyCode = "for i in range(20000):\n    print('line', i)\n"

	filesCode = `import pathlib
text = pathlib.Path("in.txt").read_text()
for n in range(4):
    pathlib.Path(f"out{n}.txt").write_text(text)
`

	loopCode = "while True:\n    pass\n"
	deadline = 200 * time.Millisecond
)

// Workloads are the snippets that are measured, the main one first, as they run
// within limits.
func Workloads(limits snippet.Limits) []Workload {
	numpy, files, timeout := work("numpy", numpyCode), work("files", filesCode), work("timeout", loopCode)
	numpy.Needs = "numpy"
	files.Job.Request.Files = []snippet.File{{Path: "in.txt", Content: bytes.Repeat([]byte("cloche\n"), 1000)}}
	timeout.Job.Request.Timeout, timeout.Timer = deadline, deadline
	timeout.Outcome, timeout.Bare = snippet.Timeout, nil
	all := []Workload{work("print", printCode), work("stdlib", libraryCode), numpy, work("chatty", chattyCode), files, timeout}
	for n := range all {
		all[n].Job.Limits = limits
	}
	return all
}

// work is a snippet that also runs in the bare interpreter.
func work(name, code string) Workload {
	return Workload{
		Name: name, Outcome: snippet.OK, Bare: []string{"-I", "-c", code},
		Job: snippet.Job{
			ID: "bench", Policy: snippet.DefaultPolicy(),
			Request: snippet.Request{Code: code, Timeout: snippet.MaxTimeout},
		},
	}
}
