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

// Workloads are the snippets that are measured, the main one first.
func Workloads() []Workload {
	return []Workload{
		work("print", printCode),
		work("stdlib", libraryCode),
		{Name: "numpy", Job: job(numpyCode), Outcome: snippet.OK, Bare: bare(numpyCode), Needs: "numpy"},
		work("chatty", chattyCode),
		{Name: "files", Job: withFile(job(filesCode)), Outcome: snippet.OK},
		{Name: "timeout", Job: within(job(loopCode), deadline), Outcome: snippet.Timeout, Timer: deadline},
	}
}

func work(name, code string) Workload {
	return Workload{Name: name, Job: job(code), Outcome: snippet.OK, Bare: bare(code)}
}

func bare(code string) []string { return []string{"-I", "-c", code} }

func job(code string) snippet.Job {
	return snippet.Job{
		ID: "bench", Limits: snippet.DefaultLimits(), Policy: snippet.DefaultPolicy(),
		Request: snippet.Request{Code: code, Timeout: snippet.MaxTimeout},
	}
}

func within(j snippet.Job, timeout time.Duration) snippet.Job {
	j.Request.Timeout = timeout
	return j
}

func withFile(j snippet.Job) snippet.Job {
	j.Request.Files = []snippet.File{{Path: "in.txt", Content: bytes.Repeat([]byte("cloche\n"), 1000)}}
	return j
}
