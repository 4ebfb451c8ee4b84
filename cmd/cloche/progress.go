//go:build linux

package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"

	"golang.org/x/sys/unix"
)

// When a wait is shown, and how often it is drawn anew. What is quicker than a
// glance shows nothing.
const (
	progressAfter = 300 * time.Millisecond
	progressEvery = 100 * time.Millisecond
)

// clearLine goes back to the start of the line and erases it (ECMA-48, EL).
const clearLine = "\r\x1b[K"

// progress shows on a terminal what is waited for and how long, until stop is
// called, which leaves no trace. Anywhere else it does nothing.
func progress(w io.Writer, what string) (stop func()) {
	f, ok := w.(*os.File)
	if !ok || !isTerminal(f) {
		return func() {}
	}
	ended, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		draw(f, what, ended)
	}()
	return func() {
		close(ended)
		<-gone
	}
}

func draw(w io.Writer, what string, ended <-chan struct{}) {
	began, shown := time.Now(), false
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if took := time.Since(began); took >= progressAfter {
				shown = true
				fmt.Fprintf(w, "%scloche: %s, %.1f s", clearLine, what, took.Seconds())
			}
		case <-ended:
			if shown {
				io.WriteString(w, clearLine)
			}
			return
		}
	}
}

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

// printable keeps a terminal from obeying what comes from elsewhere.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
}
