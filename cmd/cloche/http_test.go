//go:build linux

package main

import (
	"net"
	"testing"
)

// What is asked for is listened on, in its own family, and said as it was asked.
func TestListenAsAsked(t *testing.T) {
	for asked, want := range map[string]struct{ network, host string }{
		"0.0.0.0:0": {"0.0.0.0", "0.0.0.0"}, "127.0.0.1:0": {"127.0.0.1", "127.0.0.1"}, "localhost:0": {"", "localhost"},
	} {
		l, err := listen(asked)
		if err != nil {
			t.Fatal(err)
		}
		host, port, err := net.SplitHostPort(l.Addr().String())
		if err != nil || (want.network != "" && host != want.network) {
			t.Errorf("%s: listens on %s, error %v", asked, l.Addr(), err)
		}
		if got := reachedAt(asked, l.Addr()); got != net.JoinHostPort(want.host, port) {
			t.Errorf("%s: says %s", asked, got)
		}
		l.Close()
	}
	if got := reachedAt(":80", &net.TCPAddr{IP: net.IPv6unspecified, Port: 80}); got != "[::]:80" {
		t.Errorf("without a host: says %s", got)
	}
}
