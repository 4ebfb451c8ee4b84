//go:build linux

package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cloche/internal/metrics"
	"cloche/internal/snippet"
	"cloche/internal/sqlite"
)

// No run reaches the server's own socket, records or log.
func TestRunsDoNotReachTheMetrics(t *testing.T) {
	s := startServer(t)
	host := strings.TrimPrefix(s.url, "http://")
	name, port, _ := strings.Cut(host, ":")
	data := filepath.Join(s.data, sqlite.FileName)
	for _, code := range []string{
		fmt.Sprintf("import urllib.request\nprint(urllib.request.urlopen('%s/metrics').read())", s.url),
		fmt.Sprintf(`import asyncio
async def scrape():
    r, w = await asyncio.wait_for(asyncio.open_connection(%q, %s), 2)
    w.write(b"GET /metrics HTTP/1.0\r\nHost: localhost\r\nAccept: text/plain\r\n\r\n")
    print(await r.read())
asyncio.run(scrape())`, name, port),
		fmt.Sprintf("import sys\nnet = sys.modules.get('socket') or sys.modules.get('_socket')\nprint(net.socket().connect((%q, %s)))", name, port),
		fmt.Sprintf("print(open(%q, 'rb').read(16))", data),
		fmt.Sprintf("open(%q, 'r+b').write(b'x')", data),
		fmt.Sprintf("import sqlite3\nprint(sqlite3.connect(%q).execute('SELECT count(*) FROM events').fetchall())", data),
		fmt.Sprintf("print(open('/proc/%d/fd/2', 'w').write('forged'))", s.cmd.Process.Pid),
	} {
		r := s.verdict(t, map[string]any{"code": code})
		if r.Outcome != snippet.Blocked && r.Outcome != snippet.Error || r.Reason == snippet.SandboxFailure {
			t.Errorf("%s (%s) of\n%s\n%s", r.Outcome, r.Reason, code, r.Stdout)
		}
		if said := r.Stdout + r.Stderr; strings.Contains(said, "# HELP") || strings.Contains(said, "SQLite format") {
			t.Errorf("it read what it must not: %s\n%s", code, said)
		}
	}
	if got := s.counted(t); got.Executions != 7 || got.Load.InFlight != 0 {
		t.Errorf("%d runs are counted, load %+v", got.Executions, got.Load)
	}
	if log := s.stop(t); strings.Contains(log, "forged") {
		t.Errorf("a run wrote into the log:\n%s", log)
	}
}

// The log has one line a run, with these fields, and nothing that a snippet or
// its caller wrote.
func TestLogHoldsOneLineARun(t *testing.T) {
	const canary = "c4n4ry"
	s := startServer(t)
	forged := canary + "\n{\"level\":\"INFO\",\"msg\":\"run\",\"id\":\"forged\"}\r\u2028"
	ids := map[string]bool{}
	for _, code := range []string{
		"print('%s', input(), open('%s.txt').read())",
		"raise ValueError('%s')",
		"import %s_module",
		"def %s(:",
		"open('/etc/%s')",
		"import sys; sys.exit('%s')",
		"import sys\nsys.stderr.write('%s\\n{\"msg\":\"run\"}\\n')\nopen('%s\\n.txt', 'w').write('%s')",
	} {
		body, err := json.Marshal(map[string]any{
			"code": strings.ReplaceAll(code, "%s", canary), "stdin": forged,
			"files": []any{map[string]string{"path": canary + ".txt", "content": forged}},
		})
		if err != nil {
			t.Fatal(err)
		}
		status, answer := s.ask(t, http.MethodPost, "/execute", string(body), "X-Request-Id", "caller-7", "User-Agent", canary)
		var r snippet.Result
		if err := json.Unmarshal([]byte(answer), &r); status != 200 || err != nil {
			t.Fatalf("HTTP %d, %v", status, err)
		}
		ids[r.ID] = true
	}
	for _, id := range []string{canary + `"}{"`, canary + " x", canary + "\té"} {
		if status, _ := s.ask(t, http.MethodPost, "/execute", `{"code":"1","`+canary+`":1}`, "X-Request-Id", id); status != 422 {
			t.Errorf("HTTP %d for the request id %q", status, id)
		}
	}
	log := s.stop(t)
	if strings.Contains(log, canary) {
		t.Errorf("the log holds what came in:\n%s", log)
	}
	for _, run := range runLines(t, log) {
		id, _ := run["id"].(string)
		if !ids[id] || run["request_id"] != "caller-7" {
			t.Errorf("a line that no run left: %v", run)
		}
		delete(ids, id)
	}
	if len(ids) > 0 {
		t.Errorf("runs without a line: %v in\n%s", ids, log)
	}
}

// runLines returns the lines of runs, which must have all their fields.
func runLines(t *testing.T, log string) (runs []map[string]any) {
	t.Helper()
	for line := range strings.Lines(log) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("no JSON: %s", line)
		}
		if fields["msg"] != "run" {
			continue
		}
		for _, name := range []string{
			"time", "level", "id", "request_id", "tenant", "demo", "outcome", "reason", "duration_ms", "queue_ms",
			"code_sha256", "code_bytes", "stdin_bytes", "files_in", "files_out", "stdout_bytes", "stderr_bytes", "blocked_count",
		} {
			if _, there := fields[name]; !there {
				t.Errorf("%s is not in %s", name, line)
			}
		}
		runs = append(runs, fields)
	}
	return runs
}

// While the records cannot be written runs are answered all the same, /health
// says so, and the log has what puts them back.
func TestUnrecordedRunsAreReplayed(t *testing.T) {
	s := startServer(t)
	s.verdict(t, map[string]any{"code": "1"})
	unlock := lockRecords(t, s.data)
	lost := s.verdict(t, map[string]any{"code": "2"})
	if _, health := s.ask(t, http.MethodGet, "/health", ""); !strings.Contains(health, `"recording":"failing"`) {
		t.Errorf("health says %s", health)
	}
	unlock()
	if got := s.counted(t); got.Executions != 1 {
		t.Errorf("%d runs are counted before the replay", got.Executions)
	}
	s.verdict(t, map[string]any{"code": "3"})
	if _, health := s.ask(t, http.MethodGet, "/health", ""); !strings.Contains(health, `"recording":"ok"`) {
		t.Errorf("after a good record health says %s", health)
	}
	log := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(log, []byte(s.stderr.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		out, err := exec.Command("cloche", "replay", "--data", s.data, log).CombinedOutput()
		if err != nil || !strings.HasPrefix(string(out), "events put back or already there: 1, invalid: 0, too old: 0;") {
			t.Errorf("replay: %v\n%s", err, out)
		}
		got := s.counted(t)
		if got.Executions != 3 || !hasEvent(got.Recent, lost.ID) {
			t.Errorf("%d runs are counted after it", got.Executions)
		}
	}
}

func hasEvent(list []metrics.Event, id string) bool {
	for _, e := range list {
		if e.ID == id {
			return true
		}
	}
	return false
}

// lockRecords keeps the server from writing, as a stuck backup would.
func lockRecords(t *testing.T, folder string) (unlock func()) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(folder, sqlite.FileName)+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := tx.Rollback(); err != nil {
			t.Error(err)
		}
	}
}
