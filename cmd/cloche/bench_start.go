//go:build linux

package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"cloche/internal/bench"
	"cloche/internal/config"
	"cloche/internal/snippet"
)

// starts is how many servers are started to measure that; it does not get more
// exact with more.
const starts = 15

// measureStart measures from the start of a server to its first answer.
func measureStart(ctx context.Context, cfg config.Config, python, folder string, runs int) (bench.Line, error) {
	cfg.Python = python
	servers := &freshServers{folder: folder, config: cfg}
	defer servers.wait()
	return bench.Compare(ctx, python, bench.Way{Name: "start", Runner: servers}, bench.Workloads(limits(cfg))[0], 1, min(runs, starts))
}

// freshServers is a Runner that starts a server for each job.
type freshServers struct {
	folder   string
	config   config.Config
	stopping []*exec.Cmd
}

// flags are those of a server that has the sandbox of this measurement.
func (f *freshServers) flags(data string) []string {
	return []string{
		"serve", "--addr", "127.0.0.1:0", "--data", data, "--log-level", "error",
		"--python", f.config.Python, "--work", f.config.WorkBase,
		"--preload", listed(f.config.Preload), "--require", listed(f.config.Require),
		"--sole-user=" + strconv.FormatBool(f.config.SoleUser), "--memory", strconv.FormatInt(f.config.Memory, 10),
		"--stdout-chars", strconv.Itoa(f.config.StdoutChars), "--stderr-chars", strconv.Itoa(f.config.StderrChars),
	}
}

// listed is a list as flags take it.
func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ",")
}

func (f *freshServers) Run(ctx context.Context, job snippet.Job) (snippet.Result, error) {
	data, err := os.MkdirTemp(f.folder, "start-")
	if err != nil {
		return snippet.Result{}, err
	}
	var said bytes.Buffer
	server := exec.CommandContext(ctx, "/proc/self/exe", f.flags(data)...)
	server.Args[0], server.Stderr = os.Args[0], &said
	server.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "CLOCHE_") })
	server.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := server.StdoutPipe()
	if err != nil {
		return snippet.Result{}, err
	}
	if err := server.Start(); err != nil {
		return snippet.Result{}, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = server.Wait()
		return snippet.Result{}, fmt.Errorf("the server did not start: %s", cmp.Or(strings.TrimSpace(said.String()), err.Error()))
	}
	f.stopping = append(f.stopping, server)
	defer server.Process.Signal(syscall.SIGTERM)
	client, err := newRemote(strings.TrimSpace(strings.TrimPrefix(line, "cloche listening on ")))
	if err != nil {
		return snippet.Result{}, err
	}
	return client.Run(ctx, job.Request)
}

// wait returns when all servers have ended.
func (f *freshServers) wait() {
	for _, server := range f.stopping {
		_ = server.Wait()
	}
}
