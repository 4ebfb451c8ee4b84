// Package metrics holds what Cloche counts: the Event that each run leaves and
// the Snapshot that people and machines read. Stores implement it elsewhere;
// metricstest says what a store must do.
package metrics

import (
	"time"

	"cloche/internal/snippet"
)

// Event is the record of one run. It holds no source text: CodeSHA256 stands
// for it.
type Event struct {
	ID           string          `json:"id"`            // the run's ULID; a store counts it once
	Time         time.Time       `json:"time"`          // when the answer was made, UTC
	Tenant       string          `json:"tenant"`        // "default" where there are no tenants
	RequestID    string          `json:"request_id"`    // the caller's X-Request-Id, validated; may be empty
	Demo         bool            `json:"demo"`          // a run of the demo set
	Outcome      snippet.Outcome `json:"outcome"`       //
	Reason       snippet.Reason  `json:"reason"`        //
	DurationMS   float64         `json:"duration_ms"`   // wall clock
	CPUMS        float64         `json:"cpu_ms"`        //
	PeakMemory   int64           `json:"peak_memory"`   // bytes
	QueueMS      float64         `json:"queue_ms"`      // time in the waiting room
	CodeSHA256   string          `json:"code_sha256"`   // lower-case hexadecimal
	CodeBytes    int             `json:"code_bytes"`    //
	StdoutBytes  int64           `json:"stdout_bytes"`  //
	StderrBytes  int64           `json:"stderr_bytes"`  //
	FilesIn      int             `json:"files_in"`      //
	FilesOut     int             `json:"files_out"`     // returned and omitted together
	BlockedCount int             `json:"blocked_count"` //
	Blocked      string          `json:"blocked"`       // the first refused target, at most 200 characters; may be empty
}
