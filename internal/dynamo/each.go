package dynamo

import (
	"context"
	"fmt"
	"sync"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
)

// each calls do for 0 to n-1, parallel at a time, and ends the others at the
// first error, which it returns.
func each(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	slots := make(chan struct{}, parallel)
	var wg sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		wg.Go(func() {
			defer func() { <-slots }()
			if err := do(ctx, i); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

func textOf(i item, name string) (string, error) {
	var s string
	if err := attributevalue.Unmarshal(i[name], &s); err != nil || s == "" {
		return "", fmt.Errorf("item without %s", name)
	}
	return s, nil
}
