//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"cloche/internal/config"
	"cloche/internal/connection"
)

// Bounds on a connection. A body is at most a few MiB, so a slow reader or
// writer gains nothing from more.
const (
	headerTime  = 5 * time.Second
	requestTime = 30 * time.Second // header and body
	answerTime  = 30 * time.Second // of a run, its queueing not counted, and its answer
	idleTime    = 2 * time.Minute
	headerBytes = 32 << 10
)

// Open files. A child has nine: channels, pipes, handles; one that is looked at has four
// more. The rest is for one that
// ended a moment ago. Our own are the file rules', those of two templates, of the
// records, the log and the listener, and what it takes to read and remove the
// files of runs. Under siege about half of that is in use.
const (
	childDescriptors = 16
	ownDescriptors   = 128
)

// usualConnections is how many connections there are at most, where no more
// callers may wait for a slot than half of that. Each takes some 20 KiB while it waits.
const usualConnections = 2048

// grace is how long running requests may go on after the first signal. It
// covers the longest timeout of a snippet.
const grace = 25 * time.Second

// errEnded means that requests were still running at the end of the grace, or
// that a second signal did not wait for it.
var errEnded = errors.New("stopped while requests were still running; their runs were ended")

func newHTTPServer(handler http.Handler, wait time.Duration, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: headerTime,
		ReadTimeout:       requestTime,
		WriteTimeout:      requestTime + wait + answerTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    headerBytes,
		// OPTIONS * would be answered without a text.
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}

// listen names the usual causes in words. For an IPv4 address it takes no other:
// Go's "tcp" would listen on all of both families where it is 0.0.0.0.
func listen(addr string) (net.Listener, error) {
	network := "tcp"
	if a, err := netip.ParseAddrPort(addr); err == nil && a.Addr().Is4() {
		network = "tcp4"
	}
	l, err := net.Listen(network, addr)
	switch {
	case err == nil:
		return l, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("the address %s is taken; stop what listens there or choose another with --addr", addr)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("the address %s may not be listened on by this user; choose a port above 1023 with --addr", addr)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, fmt.Errorf("the address %s is not one of this machine's; choose another with --addr", addr)
	}
	return nil, fmt.Errorf("listen: %w; choose another address with --addr", err)
}

// reachedAt is the address that was asked for, with the port that was found.
func reachedAt(asked string, found net.Addr) string {
	host, _, err := net.SplitHostPort(asked)
	_, port, _ := net.SplitHostPort(found.String())
	if err != nil || host == "" {
		return found.String()
	}
	return net.JoinHostPort(host, port)
}

// notify collects the signals that stop a server. It is called early: a signal
// that comes while the server starts must not be lost.
func notify() <-chan os.Signal {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	return signals
}

// bounded has the server serve no more connections than the limit on open files
// leaves room for, and says so where fewer callers can wait than it has been told.
func bounded(srv *http.Server, l net.Listener, cfg config.Config, log *slog.Logger) (net.Listener, error) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil { // Go has raised the soft limit already
		return nil, fmt.Errorf("read the limit on open files: %w", err)
	}
	most := connections(limit.Cur, cfg)
	if busiest, wanted := connection.Busiest(most), cfg.Concurrency+cfg.Queue; busiest < wanted {
		log.Warn("few descriptors: raise the limit on open files, or lower --queue or --concurrency; callers beyond that many get 503",
			"open_files", limit.Cur, "callers", busiest, "wanted", wanted)
	}
	return connection.Bound(srv, l, most), nil
}

// connections is how many there may be: as callers can be served or wait for that,
// and as many again for those between requests, if there are descriptors for so
// many besides the server's own and those of the sandbox, whose children are
// --pool and up to --concurrency more.
func connections(descriptors uint64, cfg config.Config) int {
	room := int(min(descriptors, math.MaxInt32)) - childDescriptors*(cfg.Pool+cfg.Concurrency) - ownDescriptors
	return min(room, max(usualConnections, 2*(cfg.Concurrency+cfg.Queue)))
}

// serveHTTP serves until the first signal, then lets requests finish until the
// grace ends or a second signal comes.
func serveHTTP(srv *http.Server, l net.Listener, signals <-chan os.Signal, log *slog.Logger) error {
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(l) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case s := <-signals:
		log.Info("stopping", "signal", s.String(), "grace", grace.String())
	}
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	go func() {
		select {
		case <-signals:
			cancel()
		case <-ctx.Done():
		}
	}()
	if err := srv.Shutdown(ctx); err != nil {
		srv.Close()
		return errEnded
	}
	log.Info("stopped")
	return nil
}
