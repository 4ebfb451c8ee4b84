package config

import (
	"runtime"
	"strconv"
	"time"
)

// What a value is called in the help.
const (
	kindText     = "string"
	kindNumber   = "int"
	kindDuration = "duration"
	kindSize     = "size"
	kindSwitch   = "bool"
)

// setting is one line of the table: how it is named, what it is without being
// named, and how its text becomes a field.
type setting struct {
	flag     string
	env      string
	fallback string
	kind     string
	parse    parser
	usage    string
}

// cores heeds a container's CPU limit, and is taken before anything changes what
// Go's scheduler has.
var cores = runtime.GOMAXPROCS(0)

// DefaultPool is how many children wait for a run: two a core, and at least four.
func DefaultPool() int { return max(4, 2*cores) }

// DefaultConcurrency is how many runs there are at one time: four a core, and at
// least eight, since a run mostly waits, for its interpreter or for its own sleep.
func DefaultConcurrency() int { return max(8, 4*cores) }

func serverSettings() []setting {
	return []setting{
		{
			"addr", "CLOCHE_ADDR", "127.0.0.1:8080", kindText,
			address(func(c *Config) *string { return &c.Addr }),
			"address to listen on; port 0 takes a free one",
		},
		{
			"allow-remote", "CLOCHE_ALLOW_REMOTE", "false", kindSwitch,
			toggle(func(c *Config) *bool { return &c.AllowRemote }),
			"listen on an address that other machines reach, although no key is asked for",
		},
		{
			"allow-hosts", "CLOCHE_ALLOW_HOSTS", "", kindText,
			hosts(func(c *Config) *[]string { return &c.AllowedHosts }),
			"host names that requests may be sent to besides the loopback ones, with commas between; * for any",
		},
		{
			"data", "CLOCHE_DATA", ".cloche", kindText,
			folder(func(c *Config) *string { return &c.Data }),
			"folder of the records; made if it is not there",
		},
		{
			"concurrency", "CLOCHE_CONCURRENCY", strconv.Itoa(DefaultConcurrency()), kindNumber,
			number(func(c *Config) *int { return &c.Concurrency }, 1, 1024),
			"runs at one time, 1 to 1024",
		},
		{
			"pool", "CLOCHE_POOL", strconv.Itoa(DefaultPool()), kindNumber,
			number(func(c *Config) *int { return &c.Pool }, 1, 256),
			"children that are ready and wait for a run, 1 to 256",
		},
		{
			"queue", "CLOCHE_QUEUE", "512", kindNumber,
			number(func(c *Config) *int { return &c.Queue }, 0, 65536),
			"callers that may wait for a run to end and make room, 0 to 65536",
		},
		{
			"wait", "CLOCHE_WAIT", "10s", kindDuration,
			duration(func(c *Config) *time.Duration { return &c.Wait }, 100*time.Millisecond, 5*time.Minute),
			"how long a caller waits for that before it is told to try again later, 100ms to 5m",
		},
		{
			"log-level", "CLOCHE_LOG_LEVEL", "info", kindText,
			level,
			"least level that is logged: debug, info, warn or error",
		},
		{
			"log-format", "CLOCHE_LOG_FORMAT", "json", kindText,
			oneOf(func(c *Config) *string { return &c.LogFormat }, "json", "text"),
			"form of the log on standard error: json or text",
		},
	}
}

func sandboxSettings(layers []string) []setting {
	return []setting{
		{
			"python", "CLOCHE_PYTHON", "", kindText,
			plain(func(c *Config) *string { return &c.Python }),
			"Python that runs snippets; found if not named",
		},
		{
			"preload", "CLOCHE_PRELOAD", "auto", kindText,
			modules(func(c *Config) *[]string { return &c.Preload }),
			"packages to load once for all runs, with commas between, or none; auto is numpy where it is installed",
		},
		{
			"work", "CLOCHE_WORK", "", kindText,
			absolute(func(c *Config) *string { return &c.WorkBase }),
			"existing folder to make the runs' work folders in, outside the data folder; the temporary one if not named",
		},
		{
			"require", "CLOCHE_REQUIRE", "files,seccomp", kindText,
			names(func(c *Config) *[]string { return &c.Require }, layers),
			"isolation layers without which nothing starts, with commas between, or none; cloche doctor lists them",
		},
		{
			"sole-user", "CLOCHE_SOLE_USER", "false", kindSwitch,
			toggle(func(c *Config) *bool { return &c.SoleUser }),
			"say that every process of the snippets' user here is Cloche's own, as in a container",
		},
		{
			"memory", "CLOCHE_MEMORY", "256MiB", kindSize,
			size(func(c *Config) *int64 { return &c.Memory }, 16<<20, 64<<30),
			"memory of one run on top of the interpreter's own, 16MiB to 64GiB",
		},
		{
			"stdout-chars", "CLOCHE_STDOUT_CHARS", "4000", kindNumber,
			number(func(c *Config) *int { return &c.StdoutChars }, 100, 1_000_000),
			"characters of standard output that an answer keeps, 100 to 1000000",
		},
		{
			"stderr-chars", "CLOCHE_STDERR_CHARS", "2000", kindNumber,
			number(func(c *Config) *int { return &c.StderrChars }, 100, 1_000_000),
			"characters of standard error that an answer keeps, 100 to 1000000",
		},
	}
}
