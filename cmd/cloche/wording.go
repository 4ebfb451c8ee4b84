//go:build linux

package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"cloche/internal/snippet"
)

// hintWords are what hints call things by their names in the API, and what they
// are for who runs a snippet from the command line.
var hintWords = strings.NewReplacer(
	"raise timeout_ms (at most 20000)", "raise --timeout (at most 20s)",
	"Send the text in the request's stdin.", "Give the text with --stdin.",
	"a package that GET /packages lists", "an installed package",
	"the packages that GET /packages lists", "the packages that are installed",
	"send the module as a file", "give the module with --file",
	"Send it in the request's files and", "Give it with --file and",
	"the work folder and the request's files;", "the work folder, and put files there with --file;",
	"error.message and error.traceback say more", "the traceback says more",
	"See GET /policy for", "GET /policy of a server lists",
	"Send it again.", "Run it again.",
)

// inFlags says the faults of a request with the flags that they came from, each
// on a line of its own. Other errors stay as they are.
func (f *runFlags) inFlags(err error) error {
	var fields snippet.FieldErrors
	if !errors.As(err, &fields) {
		return err
	}
	var faults []error
	for _, fault := range fields {
		faults = append(faults, f.inFlag(fault))
	}
	return errors.Join(faults...)
}

func (f *runFlags) inFlag(fault snippet.FieldError) error {
	switch n, isFile := f.fileNamed(fault.Field); {
	case isFile:
		return flagFault("file", f.files[n], fault.Problem)
	case fault.Field == "code":
		return fmt.Errorf("the snippet %s", fault.Problem)
	case fault.Field == "timeout_ms":
		return flagFault("timeout", f.timeout, fault.Problem)
	case fault.Field == "stdin":
		return flagFault("stdin", f.stdin, fault.Problem)
	case fault.Field == "files":
		return fmt.Errorf("--file %s", fault.Problem)
	}
	return snippet.FieldErrors{fault}
}

// fileNamed reads the number in files[2].path, if there is such a --file.
func (f *runFlags) fileNamed(field string) (n int, ok bool) {
	rest, isFile := strings.CutPrefix(field, "files[")
	number, _, closed := strings.Cut(rest, "]")
	n, err := strconv.Atoi(number)
	return n, isFile && closed && err == nil && n >= 0 && n < len(f.files)
}
