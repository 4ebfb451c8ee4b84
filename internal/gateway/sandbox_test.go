package gateway

import (
	"log/slog"
	"os"
	"testing"
	"time"

	"cloche/internal/guard"
	"cloche/internal/sandbox"
	"cloche/internal/snippet"
)

func TestMain(m *testing.M) {
	guard.Main()
	os.Exit(m.Run())
}

// However a run ends, what our own sandbox says of it agrees with itself.
func TestOurVerdictsAreBelieved(t *testing.T) {
	box, err := sandbox.New(sandbox.Config{Workers: 2, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	for _, code := range []string{
		"1", "1/0", "1 +", "raise SystemExit(0)", "raise SystemExit(9)", "raise SystemExit('no')", "raise KeyboardInterrupt",
		"import os", "try:\n import os\nexcept ImportError: pass", "try:\n import os\nexcept ImportError: raise SystemExit(3)",
		"while True: pass", "x = bytearray(1 << 40)", "f = open('a', 'wb')\nwhile True: f.write(bytes(1 << 20))",
		"open('/etc/passwd')", "open('a\\x1b\\n', 'w').close()",
	} {
		job := exampleJob()
		job.Request = snippet.Request{Code: code, Timeout: time.Second}
		began := time.Now()
		result, err := Fitted{box}.Run(t.Context(), job)
		took := time.Since(began)
		if err == nil {
			err = believe(result, job, took)
		}
		if err != nil {
			t.Errorf("%q: %v, result %+v", code, err, result)
		}
	}
	reply := ordinary("id")
	reply.Runtime = described(box.Runtime())
	for _, c := range reply.checks("id") {
		if !c.holds {
			t.Errorf("%s of %+v is not believed", c.field, reply.Runtime)
		}
	}
}
