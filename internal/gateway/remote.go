package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"cloche/internal/snippet"
)

// RemoteOptions say which function runs snippets.
type RemoteOptions struct {
	Function string // name or ARN
	Isolated bool   // it has a microVM for each tenant, and must be told whose a job is
	Log      *slog.Logger
}

// Remote runs snippets in another function. A job is sent once: it is only
// repeated when it surely did not run.
type Remote struct {
	client  *lambda.Client
	options RemoteOptions
	runtime atomic.Pointer[snippet.Runtime]
}

// The time of a call. It lies between that of the function that calls (28 s) and
// that of the runner (25 s): see the template.
const (
	invokeTime  = 26 * time.Second
	patience    = 2 * time.Second // for calls that surely did not run
	overhead    = 3 * time.Second // of a run beyond its timeout: a cold start, the sweep, the way
	firstPause  = 50 * time.Millisecond
	lastPause   = 400 * time.Millisecond
	dialTime    = time.Second
	idleTime    = 5 * time.Second
	maxLogError = 500 // characters of a function's error that the log repeats
)

// OpenRemote uses the region, credentials and endpoint that the SDK finds in the
// environment. It makes no request.
func OpenRemote(ctx context.Context, o RemoteOptions) (*Remote, error) {
	loaded, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("load AWS settings: %w", err)
	}
	return openRemote(loaded, transport(), o)
}

func openRemote(loaded aws.Config, client aws.HTTPClient, o RemoteOptions) (*Remote, error) {
	if o.Function == "" {
		return nil, errors.New("no name of a function that runs snippets")
	}
	return &Remote{options: o, client: lambda.NewFromConfig(loaded, func(l *lambda.Options) {
		l.HTTPClient = bounded{client}
		l.Retryer = aws.NopRetryer{} // the SDK's own would run a snippet again after a lost answer
	})}, nil
}

// transport speaks HTTP/1.1 only, where net/http never sends a POST twice unless
// nothing of it was written. It forgets connections that were idle for longer
// than idleTime: an environment that was frozen would find them cut, and could
// not tell whether its job arrived.
func transport() aws.HTTPClient {
	return awshttp.NewBuildableClient().
		WithDialerOptions(func(d *net.Dialer) { d.Timeout = dialTime }).
		WithTransportOptions(func(t *http.Transport) {
			t.IdleConnTimeout = idleTime
			t.ForceAttemptHTTP2 = false
			t.Protocols = new(http.Protocols)
			t.Protocols.SetHTTP1(true)
		})
}

// bounded reads no more of an answer than a reply may have.
type bounded struct{ aws.HTTPClient }

func (b bounded) Do(r *http.Request) (*http.Response, error) {
	response, err := b.HTTPClient.Do(r)
	if err == nil {
		response.Body = http.MaxBytesReader(nil, response.Body, maxPayload+1)
	}
	return response, err
}

// Runtime is what the last reply with a believed verdict said about the sandbox;
// nothing before the first one.
func (r *Remote) Runtime() snippet.Runtime {
	if last := r.runtime.Load(); last != nil {
		return *last
	}
	return snippet.Runtime{Layers: []snippet.Layer{}}
}

// Run runs a job. The error is snippet.ErrUnavailable or the context's own if it
// surely did not run, and snippet.FieldErrors if it is too large to be sent; any
// other means that nobody knows what came of it.
func (r *Remote) Run(ctx context.Context, job snippet.Job) (snippet.Result, error) {
	payload, err := encodeOrder(job)
	if err != nil {
		return snippet.Result{}, err
	}
	if err := ctx.Err(); err != nil {
		return snippet.Result{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, invokeTime)
	defer cancel()
	output, took, err := r.invoke(ctx, job, payload)
	if err != nil {
		return snippet.Result{}, err
	}
	return r.read(output, job, took)
}

// invoke returns the function's answer and how long it took, its repeats not
// counted.
func (r *Remote) invoke(ctx context.Context, job snippet.Job, payload []byte) (*lambda.InvokeOutput, time.Duration, error) {
	input := &lambda.InvokeInput{FunctionName: &r.options.Function, Payload: payload}
	if r.options.Isolated {
		input.TenantId = &job.Tenant
	}
	began := time.Now()
	for bound := firstPause; ; bound = min(2*bound, lastPause) {
		sent := time.Now()
		output, err := r.client.Invoke(ctx, input)
		if err == nil {
			return output, time.Since(sent), nil
		}
		fate := fateOf(err)
		if fate == lost {
			return nil, 0, fmt.Errorf("invoke the runner: %v", err) // not wrapped: it is not the caller who left
		}
		if fate == refused || !fits(ctx, began, job) || !pause(ctx, rand.N(bound)) {
			return nil, 0, fmt.Errorf("%w: invoke the runner: %w", snippet.ErrUnavailable, err)
		}
	}
}

// fits reports whether there is time for another call.
func fits(ctx context.Context, began time.Time, job snippet.Job) bool {
	end, _ := ctx.Deadline() // always there
	return time.Since(began) < patience && time.Until(end) > job.Request.Timeout+overhead
}

func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// read makes a verdict of the function's answer, or says why there is none.
func (r *Remote) read(output *lambda.InvokeOutput, job snippet.Job, took time.Duration) (snippet.Result, error) {
	if output.FunctionError != nil {
		return snippet.Result{}, fmt.Errorf("the runner failed: %q", clip(string(output.Payload), maxLogError))
	}
	reply, err := decodeReply(output.Payload, job.ID)
	if err != nil {
		return snippet.Result{}, err
	}
	r.tell(reply, job)
	switch {
	case reply.Refusal != "":
		return snippet.Result{}, fmt.Errorf("the runner did not run it: %q", clip(reply.Refusal, maxLogError))
	case reply.Result == nil && len(job.Request.Files) == 0:
		return snippet.Result{}, fmt.Errorf("%w: fields", errForged) // only files can be too much to ask
	case reply.Result == nil:
		return withoutFiles(job, took), nil
	}
	if err := believe(*reply.Result, job, took); err != nil {
		return snippet.Result{}, err
	}
	r.runtime.Store(&reply.Runtime)
	return fit(*reply.Result)
}

// withoutFiles is the verdict on a job whose files the runner says it cannot
// take. It is one that is counted, not an error in the request: once a job was
// sent, only the runner's word says that it did not run.
func withoutFiles(job snippet.Job, took time.Duration) snippet.Result {
	return snippet.Result{
		ID: job.ID, Outcome: snippet.Error, Reason: snippet.SandboxFailure,
		DurationMS: float64(took) / float64(time.Millisecond),
		Hint:       "The server has no file wall (Landlock or mounts), so runs cannot use files. Send the request without files.",
	}
}

// tell logs what the runner has to say. It has no other log, so this is also for
// replies that turn out not to be believed.
func (r *Remote) tell(reply reply, job snippet.Job) {
	if reply.Fresh || reply.Diary != "" || reply.Result == nil {
		level := slog.LevelInfo
		if reply.Result == nil || reply.Result.Reason == snippet.SandboxFailure {
			level = slog.LevelWarn
		}
		r.options.Log.LogAttrs(context.Background(), level, "runner", slog.String("id", job.ID),
			slog.Bool("fresh", reply.Fresh), slog.Bool("ran", reply.Result != nil), slog.String("diary", reply.Diary))
	}
}
