package snippet

// Caps on what a Result holds, in characters unless said otherwise. They bound
// an answer whatever the snippet does.
const (
	MaxValue     = 4000
	MaxMessage   = 2000
	MaxTraceback = 8000
	MaxRefusals  = 50      // entries in Result.Blocked
	MaxArtifacts = 64      // entries in Result.Files
	MaxArtifact  = 3 << 20 // bytes of all returned file contents together
)

// Result is the verdict on one run. Its JSON form has every key for every
// outcome; text is never null.
type Result struct {
	ID      string  `json:"id" doc:"Our identifier of the run (ULID)."`
	Outcome Outcome `json:"outcome" enum:"OK,BLOCKED,TIMEOUT,ERROR" doc:"The verdict in one word."`
	Reason  Reason  `json:"reason" doc:"Why the run has its outcome."`

	Stdout          string `json:"stdout" doc:"Head and tail of standard output; invalid UTF-8 replaced."`
	Stderr          string `json:"stderr" doc:"Head and tail of standard error; invalid UTF-8 replaced."`
	StdoutBytes     int64  `json:"stdout_bytes" minimum:"0" doc:"Bytes that the snippet wrote to standard output in all."`
	StderrBytes     int64  `json:"stderr_bytes" minimum:"0" doc:"Bytes that the snippet wrote to standard error in all."`
	StdoutTruncated bool   `json:"stdout_truncated" doc:"Whether the middle of stdout was left out."`
	StderrTruncated bool   `json:"stderr_truncated" doc:"Whether the middle of stderr was left out."`

	Value *string  `json:"value" nullable:"true" doc:"repr of the last expression, as a REPL shows it; null if none."`
	Error *Failure `json:"error" nullable:"true" doc:"The uncaught exception; null if none."`

	Blocked      []Refusal `json:"blocked" doc:"Refused imports and operations, also those that the snippet caught."`
	BlockedCount int       `json:"blocked_count" minimum:"0" doc:"How many refusals there were in all."`

	ExitCode *int    `json:"exit_code" nullable:"true" doc:"Exit code; null when a signal ended the run."`
	Signal   *string `json:"signal" nullable:"true" doc:"Name of the signal that ended the run; null if none."`

	Files        []Artifact `json:"files" doc:"New or changed files of the work folder."`
	FilesOmitted int        `json:"files_omitted" minimum:"0" doc:"How many further files there were; 1 more if a deadline or a limit left no time to look at all."`

	DurationMS      float64 `json:"duration_ms" minimum:"0" doc:"Wall clock time in milliseconds, measured outside the child."`
	CPUMS           float64 `json:"cpu_ms" minimum:"0" doc:"CPU time in milliseconds, measured outside the child."`
	PeakMemoryBytes int64   `json:"peak_memory_bytes" minimum:"0" doc:"Most memory that was resident for the child at one time, with the part of the interpreter and its packages that all children share."`

	Hint string `json:"hint" doc:"What failed and what to change, in a sentence or two; empty when nothing did."`
}

// Failure is an uncaught exception, with the user's own frames only.
type Failure struct {
	Type      string `json:"type" doc:"Name of the exception's type."`
	Message   string `json:"message" doc:"Text of the exception."`
	Line      *int   `json:"line" nullable:"true" doc:"Line of the snippet; null if the exception did not pass through it."`
	Traceback string `json:"traceback" doc:"Traceback with the snippet's own frames."`
}

// Refusal is one import or operation that the guard refused.
type Refusal struct {
	Rule   Reason `json:"rule" enum:"import_denied,operation_denied" doc:"Which rule refused."`
	Target string `json:"target" doc:"Module, path or operation that was refused."`
	File   string `json:"file" doc:"File of the user's line."`
	Line   *int   `json:"line" nullable:"true" doc:"The user's line; null if it is not known."`
}

// Artifact is a file that the snippet left in its work folder.
type Artifact struct {
	Path      string  `json:"path" doc:"Path inside the work folder; bytes that are not UTF-8 are escaped."`
	Size      int64   `json:"size" minimum:"0" doc:"Size in bytes."`
	SHA256    *string `json:"sha256" nullable:"true" doc:"SHA-256 of the content in hexadecimal; null when omitted."`
	MediaType string  `json:"media_type" doc:"Media type, guessed from name and content."`
	Content   *string `json:"content" nullable:"true" doc:"Content; null when omitted."`
	Encoding  string  `json:"encoding" enum:"utf-8,base64" doc:"How content is written."`
	Omitted   string  `json:"omitted" doc:"Why content is missing; empty when it is there."`
}
