package config

import (
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"math"
	"net"
	"net/netip"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// parser puts a setting's text into its field, or says what is wrong with the
// text and what to write instead.
type parser func(c *Config, text string) error

func plain(field func(*Config) *string) parser {
	return func(c *Config, text string) error {
		if strings.ContainsRune(text, 0) {
			return errors.New("has a NUL character; leave it out")
		}
		*field(c) = text
		return nil
	}
}

func folder(field func(*Config) *string) parser {
	store := plain(field)
	return func(c *Config, text string) error {
		if strings.TrimSpace(text) == "" {
			return errors.New("names no folder; write a path such as .cloche")
		}
		return store(c, text)
	}
}

func absolute(field func(*Config) *string) parser {
	store := plain(field)
	return func(c *Config, text string) error {
		if text != "" && !filepath.IsAbs(text) {
			return errors.New("is not an absolute path; begin it with /")
		}
		return store(c, text)
	}
}

func address(field func(*Config) *string) parser {
	return func(c *Config, text string) error {
		host, port, err := net.SplitHostPort(text)
		if err != nil {
			return errors.New("is not host:port; write it like 127.0.0.1:8080")
		}
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
			return errors.New("has no port from 0 to 65535; write it like 127.0.0.1:8080")
		}
		if host != "" && !isHost(host) {
			return errors.New("has no valid host; write it like 127.0.0.1:8080")
		}
		*field(c) = text
		return nil
	}
}

func hosts(field func(*Config) *[]string) parser {
	return func(c *Config, text string) error {
		for name := range items(text) {
			if name != "*" && !isHost(name) {
				return fmt.Errorf("%q is not a host name; write names or addresses alone, without scheme or port, or * for any", name)
			}
			*field(c) = append(*field(c), name)
		}
		return nil
	}
}

// names takes a list of known words, which may be none. Where none are known,
// any are taken.
func names(field func(*Config) *[]string, known []string) parser {
	return func(c *Config, text string) error {
		*field(c) = slices.Collect(items(text))
		switch {
		case len(*field(c)) == 0:
			return errors.New("names nothing; write none if that is meant")
		case slices.Equal(*field(c), []string{"none"}):
			*field(c) = nil
		case slices.Contains(*field(c), "none"):
			return errors.New("names none and something; write one of them")
		}
		for _, name := range *field(c) {
			if known != nil && !slices.Contains(known, name) {
				return fmt.Errorf("%.40q is unknown; write some of %s, with commas between, or none", name, strings.Join(known, ", "))
			}
		}
		return nil
	}
}

// moduleName is the name of a Python module, with dots between its parts.
// Packages that others install keep to these letters.
var moduleName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$`)

// Bounds on a list of modules.
const (
	mostModules   = 32
	longestModule = 100 // characters
)

// modules takes a list of names of modules, none, or auto.
func modules(field func(*Config) *[]string) parser {
	return func(c *Config, text string) error {
		var list []string
		for name := range parts(text) {
			if !moduleName.MatchString(name) || len(name) > longestModule {
				return fmt.Errorf("%.40q is not the name of a Python module; write names such as numpy, with commas between, or none", name)
			}
			if !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
		switch {
		case len(list) > mostModules:
			return fmt.Errorf("names %d modules; write at most %d", len(list), mostModules)
		case len(list) > 1 && (slices.Contains(list, "none") || slices.Contains(list, "auto")):
			return errors.New("names none or auto and something else; write that alone, or names")
		case slices.Equal(list, []string{"none"}):
			list = nil
		}
		*field(c) = list
		return nil
	}
}

// items are the parts of a list in lower case.
func items(text string) iter.Seq[string] { return parts(strings.ToLower(text)) }

// parts are the parts of a list with commas, without empty ones.
func parts(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for part := range strings.SplitSeq(text, ",") {
			if part = strings.TrimSpace(part); part != "" && !yield(part) {
				return
			}
		}
	}
}

// hostName is a DNS name as RFC 1123 has it, with the underscore that
// container networks use.
var hostName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,63}(\.[A-Za-z0-9_-]{1,63})*$`)

func isHost(name string) bool {
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	return len(name) <= 253 && hostName.MatchString(name)
}

func toggle(field func(*Config) *bool) parser {
	return func(c *Config, text string) error {
		switch strings.ToLower(text) {
		case "true", "1", "yes":
			*field(c) = true
		case "false", "0", "no":
			*field(c) = false
		default:
			return errors.New("is neither true nor false; write one of them")
		}
		return nil
	}
}

func number(field func(*Config) *int, low, high int) parser {
	return func(c *Config, text string) error {
		n, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("is not a whole number; write one from %d to %d", low, high)
		}
		if n < low || n > high {
			return fmt.Errorf("is out of bounds; write a number from %d to %d", low, high)
		}
		*field(c) = n
		return nil
	}
}

func duration(field func(*Config) *time.Duration, low, high time.Duration) parser {
	return func(c *Config, text string) error {
		d, err := time.ParseDuration(text)
		if err != nil {
			return fmt.Errorf("is not a duration; write a number with a unit, such as 10s, from %v to %v", low, high)
		}
		if d < low || d > high {
			return fmt.Errorf("is out of bounds; write a duration from %v to %v", low, high)
		}
		*field(c) = d
		return nil
	}
}

// units are powers of 1024, whichever way they are written: nobody who caps
// memory at 512M means the decimal one.
var units = map[string]int64{
	"":  1,
	"k": 1 << 10, "kb": 1 << 10, "kib": 1 << 10,
	"m": 1 << 20, "mb": 1 << 20, "mib": 1 << 20,
	"g": 1 << 30, "gb": 1 << 30, "gib": 1 << 30,
}

func size(field func(*Config) *int64, low, high int64) parser {
	bounds := fmt.Sprintf("write a size from %s to %s", written(low), written(high))
	return func(c *Config, text string) error {
		n, ok := bytesIn(text)
		if !ok {
			return errors.New("is not a size such as 256MiB; " + bounds)
		}
		if n < low || n > high {
			return errors.New("is out of bounds; " + bounds)
		}
		*field(c) = n
		return nil
	}
}

// bytesIn reads a whole number with an optional unit; one that does not fit is
// the largest there is, hence out of anybody's bounds.
func bytesIn(text string) (int64, bool) {
	digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
	unit, known := units[strings.ToLower(strings.TrimSpace(text[digits:]))]
	if digits == 0 || !known {
		return 0, false
	}
	n, err := strconv.ParseInt(text[:digits], 10, 64)
	if err != nil || n > math.MaxInt64/unit {
		return math.MaxInt64, true
	}
	return n * unit, true
}

// written is the short form of a bound, which is in whole mebibytes.
func written(n int64) string {
	if n%(1<<30) == 0 {
		return fmt.Sprintf("%dGiB", n>>30)
	}
	return fmt.Sprintf("%dMiB", n>>20)
}

func oneOf(field func(*Config) *string, words ...string) parser {
	return func(c *Config, text string) error {
		word := strings.ToLower(text)
		if !slices.Contains(words, word) {
			return fmt.Errorf("is unknown; write %s", strings.Join(words, " or "))
		}
		*field(c) = word
		return nil
	}
}

var levels = map[string]slog.Level{
	"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
}

func level(c *Config, text string) error {
	l, known := levels[strings.ToLower(text)]
	if !known {
		return errors.New("is unknown; write debug, info, warn or error")
	}
	c.LogLevel = l
	return nil
}
