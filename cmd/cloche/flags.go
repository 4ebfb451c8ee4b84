//go:build linux

package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagFault says what is wrong with a flag's value, and what to write instead,
// in the form that internal/config has for its own.
func flagFault(name string, value any, problem string) error {
	return fmt.Errorf("--%s %.120q: %s", name, fmt.Sprint(value), problem)
}

// numberFault is for a number outside its bounds; nil inside.
func numberFault(name string, n, low, high int) error {
	if n >= low && n <= high {
		return nil
	}
	return flagFault(name, n, fmt.Sprintf("is out of bounds; write a number from %d to %d", low, high))
}

// durationFault is for a duration outside its bounds; nil inside.
func durationFault(name string, d, low, high time.Duration) error {
	if d >= low && d <= high {
		return nil
	}
	return flagFault(name, d, fmt.Sprintf("is out of bounds; write a duration from %v to %v", low, high))
}

// kinds say what to write for a value that pflag could not read, by its type.
var kinds = map[string]string{
	"duration": "is not a duration; write a number with a unit, such as 10s",
	"int":      "is not a whole number; write one such as 10",
	"intSlice": "is not a list of whole numbers; write them with commas between, such as 1,4",
	"bool":     "is neither true nor false; write one of them",
}

// flagError puts pflag's words into ours.
func flagError(cmd *cobra.Command, err error) error {
	if e, ok := errors.AsType[*pflag.InvalidValueError](err); ok && kinds[e.GetFlag().Value.Type()] != "" {
		return usageError{flagFault(e.GetFlag().Name, e.GetValue(), kinds[e.GetFlag().Value.Type()])}
	}
	return usageError{fmt.Errorf("%w; %s --help lists the flags", err, cmd.CommandPath())}
}
