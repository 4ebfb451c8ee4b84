package dynamo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// The pause before a repeat is random up to a bound that doubles each time:
// those who met at one item must not meet there again.
const (
	firstPause = 10 * time.Millisecond
	lastPause  = 300 * time.Millisecond
)

// Codes of a transaction's CancellationReasons.
const (
	conditionFailed = "ConditionalCheckFailed"
	conflict        = "TransactionConflict"
	throttled       = "ThrottlingError"
	throughput      = "ProvisionedThroughputExceeded"
)

// persist calls do until it succeeds, fails for good or patience is over. All
// that this package does may be repeated, also after an answer was lost. The
// SDK's own retryer is off: it does not repeat cancelled transactions, and its
// budget and pauses are not bounded by time. An end of time says nothing of why
// it was not enough, so what went wrong before is told with it.
func persist(ctx context.Context, patience time.Duration, do func(context.Context) error) error {
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var cause error // the last that was not an end of time
	for bound := firstPause; ; bound = min(2*bound, lastPause) {
		err := attempt(bounded, patience/2, do)
		if err == nil {
			return nil
		}
		late := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
		if !late {
			cause = err
		}
		if ctx.Err() == nil && passing(err) && pause(bounded, rand.N(bound)) {
			continue
		}
		if late && cause != nil {
			err = fmt.Errorf("%w, and before that: %w", err, cause)
		}
		return errors.Join(ctx.Err(), err)
	}
}

// attempt leaves time for another one, should the answer never come.
func attempt(ctx context.Context, most time.Duration, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	return do(ctx)
}

// pause reports whether there is time left after it.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// passing reports whether a repeat can help. Whatever is not an answer of the
// service does: a refused or cut connection, a lost or garbled answer.
func passing(err error) bool {
	var cancelled *types.TransactionCanceledException
	if errors.As(err, &cancelled) {
		return slices.ContainsFunc(cancelled.CancellationReasons, func(r types.CancellationReason) bool {
			return slices.Contains([]string{conflict, throttled, throughput}, aws.ToString(r.Code))
		})
	}
	var answer smithy.APIError
	if !errors.As(err, &answer) {
		return true
	}
	var underWay *types.TransactionInProgressException
	var response *awshttp.ResponseError
	_, throttle := retry.DefaultThrottleErrorCodes[answer.ErrorCode()]
	return throttle || errors.As(err, &underWay) ||
		errors.As(err, &response) && response.HTTPStatusCode() >= 500
}
