package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"cloche/internal/snippet"
)

// Host is the runner function: it answers what Remote sends. It works for one
// tenant, the first that it meets, and ends the process after every reply that
// is not an ordinary one, so that Lambda makes a new environment. It is for one
// invocation at a time.
type Host struct {
	Box   Box
	Fault error  // why there is no Box; told in the reply, since a runner may have no log
	Diary *Diary // what the log wrote

	pinned bool
	tenant string
	served bool
	leave  func() // ends the process; nil: os.Exit
}

var (
	errTenant = errors.New("this environment serves another tenant")
	errNoBox  = errors.New("there is no sandbox")
)

// handle answers one invocation. A fault of ours is in the reply: an error to
// Lambda would lose what is known about it.
func (h *Host) handle(ctx context.Context, payload json.RawMessage) (*parting, error) {
	r, leave := h.reply(ctx, payload)
	r.Fresh, r.Diary, h.served = !h.served, h.Diary.take(), true
	body, err := encode(r)
	if err == nil && len(body) > maxPayload {
		err = fmt.Errorf("the reply has %d bytes", len(body))
	}
	if err != nil {
		body, _ = encode(reply{ID: r.ID, Refusal: clip(err.Error(), maxLayer)}) // plain text: cannot fail
		leave = true
	}
	p := &parting{Reader: bytes.NewReader(body)}
	if leave {
		p.leave = h.end
	}
	return p, nil
}

func (h *Host) end() {
	if h.leave != nil {
		h.leave()
		return
	}
	os.Exit(1)
}

// reply runs a job, and says whether the environment has had its day.
func (h *Host) reply(ctx context.Context, payload []byte) (r reply, leave bool) {
	defer func() {
		if fault := recover(); fault != nil {
			fmt.Fprintf(h.Diary, "panic: %v\n%s", fault, debug.Stack())
			r, leave = reply{ID: r.ID, Refusal: "panic"}, true
		}
	}()
	job, err := decodeOrder(payload)
	if err != nil {
		return reply{ID: job.ID, Refusal: clip(err.Error(), maxLayer)}, false
	}
	r.ID = job.ID
	if err := h.admit(ctx); err != nil {
		r.Refusal = clip(err.Error(), maxLayer)
		return r, true
	}
	result, err := h.Box.Run(ctx, job)
	r.Runtime = described(h.Box.Runtime())
	if errors.As(err, &r.Fields) {
		return r, false
	}
	if err == nil {
		result, err = fit(result)
	}
	if err != nil {
		r.Refusal = clip(err.Error(), maxLayer)
		return r, true
	}
	r.Result = &result
	return r, result.Reason == snippet.SandboxFailure || result.Reason == snippet.Abandoned
}

// described makes one line of each reason that the kernel gave, as Remote wants it.
func described(r snippet.Runtime) snippet.Runtime {
	r.Layers = slices.Clone(r.Layers)
	for i := range r.Layers {
		r.Layers[i].Detail = clip(r.Layers[i].Detail, maxLayer)
	}
	return r
}

// admit pins the tenant. Lambda says who it is, in every invocation; where it
// keeps no tenants apart it says nothing, which then is the one that is pinned.
func (h *Host) admit(ctx context.Context) error {
	tenant := ""
	if call, ok := lambdacontext.FromContext(ctx); ok {
		tenant = call.TenantID
	}
	if !h.pinned {
		h.pinned, h.tenant = true, tenant
	}
	switch {
	case tenant != h.tenant:
		return errTenant
	case h.Box == nil:
		return fmt.Errorf("%w: %w", errNoBox, h.Fault)
	}
	return nil
}

// parting is a reply as the Lambda library sends it, byte by byte. The library
// closes it when it has been sent.
type parting struct {
	*bytes.Reader
	leave func() // nil: the process stays
}

// ContentType is what the library announces.
func (p *parting) ContentType() string { return "application/json" }

// MarshalJSON makes the library take the reply as it is.
func (p *parting) MarshalJSON() ([]byte, error) { return []byte("{}"), nil }

// Close ends the process, if that was its last reply.
func (p *parting) Close() error {
	if p.leave != nil {
		p.leave()
	}
	return nil
}
