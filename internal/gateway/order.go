package gateway

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"cloche/internal/snippet"
)

// maxPayload is the most that a job or a verdict may have in bytes, as it is
// sent. Lambda takes about 6.29 million; the rest is for what it wraps around.
const maxPayload = 5_500_000

// order is a job on its way to the runner. Contents are bytes, hence base64 in
// JSON: text would take up to six times its size, and the largest valid request
// would not fit. Whose job it is stays behind; a runner has no use for it.
type order struct {
	ID        string         `json:"id"`
	Code      []byte         `json:"code"`
	TimeoutMS int64          `json:"timeout_ms"`
	Stdin     []byte         `json:"stdin"`
	Files     []orderFile    `json:"files"`
	Limits    snippet.Limits `json:"limits"`
	Policy    snippet.Policy `json:"policy"`
}

type orderFile struct {
	Path    string `json:"path"`
	Content []byte `json:"content"`
}

// encodeOrder also refuses what is too large for the way, which only files or a
// policy can be.
func encodeOrder(job snippet.Job) ([]byte, error) {
	o := order{
		ID: job.ID, Code: []byte(job.Request.Code), TimeoutMS: job.Request.Timeout.Milliseconds(),
		Stdin: []byte(job.Request.Stdin), Limits: job.Limits, Policy: job.Policy,
	}
	for _, f := range job.Request.Files {
		o.Files = append(o.Files, orderFile(f))
	}
	payload, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("encode job: %w", err)
	}
	if len(payload) > maxPayload {
		return nil, snippet.FieldErrors{{Field: "files", Problem: fmt.Sprintf("must be smaller: the whole request, encoded, may have %d bytes", maxPayload)}}
	}
	return payload, nil
}

var errOrder = errors.New("not a job")

// decodeOrder reads what encodeOrder wrote, and nothing else.
func decodeOrder(payload []byte) (snippet.Job, error) {
	var o order
	if err := json.Unmarshal(payload, &o, json.RejectUnknownMembers(true)); err != nil {
		return snippet.Job{}, fmt.Errorf("%w: %w", errOrder, err)
	}
	job := snippet.Job{
		ID: o.ID, Limits: o.Limits, Policy: o.Policy,
		Request: snippet.Request{
			Code: string(o.Code), Stdin: string(o.Stdin), Timeout: time.Duration(o.TimeoutMS) * time.Millisecond,
		},
	}
	for _, f := range o.Files {
		job.Request.Files = append(job.Request.Files, snippet.File(f))
	}
	if job.ID == "" || job.Request.Timeout == 0 || job.Limits == (snippet.Limits{}) {
		return snippet.Job{}, fmt.Errorf("%w: incomplete", errOrder)
	}
	if err := snippet.Validate(job.Request); err != nil {
		return snippet.Job{}, fmt.Errorf("%w: %w", errOrder, err)
	}
	return job, nil
}
