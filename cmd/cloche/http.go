//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/signal"
	"syscall"
	"time"
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
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
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
