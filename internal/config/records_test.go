package config

import (
	"testing"

	"github.com/spf13/pflag"
)

// What works on records has the server's setting for them, and no other.
func TestRecordsHaveOneSetting(t *testing.T) {
	t.Setenv("CLOCHE_DATA", "elsewhere")
	t.Setenv("CLOCHE_ADDR", "nonsense")
	l := ForRecords()
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	l.Bind(flags)
	n := 0
	flags.VisitAll(func(*pflag.Flag) { n++ })
	if c, err := l.Load(); err != nil || c.Data != "elsewhere" || n != 1 {
		t.Errorf("data folder %q, %d flags, error %v", c.Data, n, err)
	}
	if err := flags.Parse([]string{"--data", "here"}); err != nil {
		t.Fatal(err)
	}
	if c, err := l.Load(); err != nil || c.Data != "here" {
		t.Errorf("data folder %q, error %v", c.Data, err)
	}
}
