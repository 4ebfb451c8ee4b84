package metrics

import (
	"time"

	"cloche/internal/snippet"
)

// Event is the record of one run. It holds no source text: CodeSHA256 stands
// for it.
type Event struct {
	ID           string          `json:"id" doc:"The run's identifier; it is counted once."`
	Time         time.Time       `json:"time" doc:"When the answer was made, UTC, to the millisecond."`
	Tenant       string          `json:"tenant" doc:"Who ran it; default where there are no tenants."`
	RequestID    string          `json:"request_id" doc:"The caller's X-Request-Id; may be empty."`
	Demo         bool            `json:"demo" doc:"Whether it was a run of the demo set."`
	Outcome      snippet.Outcome `json:"outcome" enum:"OK,BLOCKED,TIMEOUT,ERROR" doc:"The verdict in one word."`
	Reason       snippet.Reason  `json:"reason" doc:"Why the run has its outcome."`
	DurationMS   float64         `json:"duration_ms" minimum:"0" doc:"Wall clock time in milliseconds, without the wait for a slot."`
	CPUMS        float64         `json:"cpu_ms" minimum:"0" doc:"CPU time in milliseconds."`
	PeakMemory   int64           `json:"peak_memory" minimum:"0" doc:"Peak resident memory in bytes."`
	QueueMS      float64         `json:"queue_ms" minimum:"0" doc:"Time in the waiting room in milliseconds."`
	CodeSHA256   string          `json:"code_sha256" doc:"SHA-256 of the source text, lower-case hexadecimal."`
	CodeBytes    int             `json:"code_bytes" minimum:"0" doc:"Length of the source text in bytes."`
	StdoutBytes  int64           `json:"stdout_bytes" minimum:"0" doc:"Bytes written to standard output."`
	StderrBytes  int64           `json:"stderr_bytes" minimum:"0" doc:"Bytes written to standard error."`
	FilesIn      int             `json:"files_in" minimum:"0" doc:"Input files."`
	FilesOut     int             `json:"files_out" minimum:"0" doc:"Output files, returned and omitted together."`
	BlockedCount int             `json:"blocked_count" minimum:"0" doc:"Refused imports and operations."`
	Blocked      string          `json:"blocked" doc:"The first refused target, at most 200 characters; may be empty."`
}
