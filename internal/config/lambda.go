package config

import (
	"os"
	"slices"
	"strings"
)

// Lambda is what the template tells a function, and what an operator decides
// about the sandbox of one that has its own.
type Lambda struct {
	Config           // of the sandbox; the other fields keep their zero
	Inline    bool   // the function runs snippets itself; otherwise Runner does
	Runner    string // name of the function that runs snippets; "" where there is none
	Isolated  bool   // Runner has a microVM for each tenant
	Table     string // DynamoDB table of the records; "" where there is none
	Shards    int    // items that share each counter in it; 0 means the store's default
	Namespace string // of the metrics in CloudWatch; "" means that none are written
}

// ForLambda reads the settings of a function on AWS Lambda from its
// environment. All faults come back in one error.
func ForLambda() (Lambda, error) {
	var l Lambda
	c, err := (&Loader{settings: append(sandboxSettings(nil), l.settings()...)}).Load()
	if err != nil {
		return Lambda{}, err
	}
	l.Config = c
	return l, nil
}

// settings are read into l. They have no flags: the names of those are only for
// the table.
func (l *Lambda) settings() []setting {
	is := func(into *bool, yes, no string) parser {
		var word string
		read := oneOf(func(*Config) *string { return &word }, yes, no)
		return func(c *Config, text string) error {
			err := read(c, text)
			*into = word == yes
			return err
		}
	}
	text := func(into *string) parser {
		return plain(func(*Config) *string { return into })
	}
	return []setting{
		{"mode", "CLOCHE_MODE", "dedicated", kindText, is(&l.Inline, "inline", "dedicated"), ""},
		{"runner", "CLOCHE_RUNNER", "", kindText, text(&l.Runner), ""},
		{"tenant-isolation", "CLOCHE_TENANT_ISOLATION", "on", kindText, is(&l.Isolated, "on", "off"), ""},
		{"table", "CLOCHE_TABLE", "", kindText, text(&l.Table), ""},
		{"shards", "CLOCHE_SHARDS", "0", kindNumber, number(func(*Config) *int { return &l.Shards }, 0, 256), ""},
		{"namespace", "CLOCHE_NAMESPACE", "", kindText, text(&l.Namespace), ""},
	}
}

// keptByRunner are the variables, by prefix, without which a runner does not
// work: where Lambda's runtime interface is, where programs and folders are, and
// its own.
var keptByRunner = []string{"AWS_LAMBDA_RUNTIME_API=", "CLOCHE_", "PATH=", "TMPDIR=", "TZ="}

// RunnerEnvironment returns the variables that a function needs that runs
// snippets and does nothing else, and whether there are others: among those are
// the credentials that Lambda gives every function.
func RunnerEnvironment() (useful []string, others bool) {
	for _, v := range os.Environ() {
		if slices.ContainsFunc(keptByRunner, func(prefix string) bool { return strings.HasPrefix(v, prefix) }) {
			useful = append(useful, v)
		} else {
			others = true
		}
	}
	return useful, others
}
