//go:build linux

package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
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
	servers := &freshServers{folder: folder, python: python, preload: cfg.Preload}
	defer servers.wait()
	return bench.Compare(ctx, python, bench.Way{Name: "start", Runner: servers}, bench.Workloads()[0], 1, min(runs, starts))
}

// freshServers is a Runner that starts a server for each job.
type freshServers struct {
	folder, python string
	preload        []string
	stopping       []*exec.Cmd
}

func (f *freshServers) Run(ctx context.Context, job snippet.Job) (snippet.Result, error) {
	data, err := os.MkdirTemp(f.folder, "start-")
	if err != nil {
		return snippet.Result{}, err
	}
	preload := "none"
	if len(f.preload) > 0 {
		preload = strings.Join(f.preload, ",")
	}
	server := exec.CommandContext(ctx, "/proc/self/exe", "serve", "--addr", "127.0.0.1:0", "--data", data,
		"--python", f.python, "--preload", preload)
	server.Args[0] = os.Args[0]
	server.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := server.StdoutPipe()
	if err != nil {
		return snippet.Result{}, err
	}
	if err := server.Start(); err != nil {
		return snippet.Result{}, err
	}
	f.stopping = append(f.stopping, server)
	defer server.Process.Signal(syscall.SIGTERM)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return snippet.Result{}, fmt.Errorf("the server did not start: %w", err)
	}
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
