//go:build linux && soak

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"cloche/internal/snippet"
)

// load is a kind of run and how many of a hundred are of it.
type load struct {
	share   int
	reason  snippet.Reason
	request map[string]any
}

// unhurried is the timeout of runs that are not about time.
const unhurried = 20_000

func one(share int, reason snippet.Reason, code string) load {
	timeout := unhurried
	if reason == snippet.Deadline {
		timeout = 100
	}
	return load{share, reason, map[string]any{
		"code": code, "timeout_ms": timeout, "stdin": "one line\n",
		"files": []any{map[string]string{"path": "in/data.txt", "content": "content"}},
	}}
}

// mix is 70 of a hundred OK, 12 BLOCKED, 6 TIMEOUT, 12 ERROR.
var mix = []load{
	one(30, snippet.Completed, "sum(n * n for n in range(1000))"),
	one(10, snippet.Completed, "import json\njson.dumps({'line': input(), 'file': open('in/data.txt').read()})"),
	one(10, snippet.Completed, "open('out.txt', 'w').write('x' * 10_000)"),
	one(10, snippet.Completed, "import collections, datetime, re\ncollections.Counter(re.findall('.', str(datetime.date.today())))"),
	one(5, snippet.Completed, "try:\n    import os\nexcept ImportError:\n    pass"),
	one(5, snippet.Completed, "for n in range(5_000): print('flood', n)"),

	one(3, snippet.ImportDenied, "print('before')\nimport os"),
	one(3, snippet.ImportDenied, "import subprocess\nsubprocess.run(['id'])"),
	one(3, snippet.ImportDenied, "import socket"),
	one(3, snippet.OperationDenied, "open('/etc/passwd')"),

	one(3, snippet.Deadline, "while True: pass"),
	one(1, snippet.Deadline, "import time\ntime.sleep(60)"),
	one(2, snippet.Deadline, "while True: print('flood' * 100)"),

	one(2, snippet.Exception, "{}['missing']"),
	one(1, snippet.Exception, "def f(): f()\nf()"),
	one(1, snippet.SyntaxError, "def f(:"),
	one(1, snippet.ExitStatus, "import sys\nsys.stdout.write('x' * 1_000_000)\nsys.exit(3)"),
	one(2, snippet.MemoryLimit, "block = bytearray(1 << 34)"),
	one(1, snippet.MemoryLimit, "held = []\nwhile True: held.append(bytes(1 << 20))"),
	one(2, snippet.Signal, "import faulthandler\nfaulthandler._sigsegv()"),
	one(1, snippet.Signal, "import faulthandler\nfaulthandler._sigabrt()"),
	one(1, snippet.DiskLimit, "with open('big', 'wb', buffering=0) as f:\n    while f.write(bytes(1 << 20)): pass"),
}

// mixed is n runs with the mix's shares in an order of their own.
func mixed(n int, seed uint64) []load {
	var hundred []load
	for _, l := range mix {
		for range l.share {
			hundred = append(hundred, l)
		}
	}
	if len(hundred) != 100 {
		panic(fmt.Sprintf("the shares add up to %d", len(hundred)))
	}
	all := make([]load, 0, n)
	for len(all) < n {
		all = append(all, hundred...)
	}
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:n]
}

// send returns the verdict; the error says that there was no answer.
func (l load) send(client *http.Client, url string) (r snippet.Result, err error) {
	body, err := json.Marshal(l.request)
	if err != nil {
		return r, err
	}
	resp, err := client.Post(url+"/execute", "application/json", bytes.NewReader(body))
	if err != nil {
		return r, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return r, err
	}
	if resp.StatusCode != http.StatusOK {
		return r, fmt.Errorf("HTTP %d: %.300s", resp.StatusCode, text)
	}
	return r, json.Unmarshal(text, &r)
}

// buildServer puts the real binary before the one that the tests have of themselves.
func buildServer(t *testing.T) {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "cloche")
	build := exec.Command("go", "build", "-trimpath", "-o", bin, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Setenv("PATH", filepath.Dir(bin)+string(filepath.ListSeparator)+os.Getenv("PATH"))
}
