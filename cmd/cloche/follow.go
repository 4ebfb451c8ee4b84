//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"cloche/internal/metrics"
)

// followEvery is how often a follower looks for new events.
const followEvery = 500 * time.Millisecond

// followLate is how much later than its own time an event may be recorded, and
// so come after younger ones: longer than a run waits for its record.
const followLate = 10 * time.Second

// follower lists events as they come, each once. It looks back a little each
// time, because they are not recorded in the order of their times.
type follower struct {
	from   lister
	filter metrics.Filter

	newest  time.Time            // of all that were listed
	floor   metrics.Position     // the oldest of the first list; what is older was left out
	seen    map[string]time.Time // by id: those that the next look will meet again
	failing bool
}

// first lists the newest events, at most so many, oldest first.
func (f *follower) first(ctx context.Context, most int) ([]metrics.Event, error) {
	list, err := f.pages(ctx, f.filter, most)
	if err != nil {
		return nil, err
	}
	f.seen = map[string]time.Time{}
	if len(list) > 0 {
		f.floor = metrics.PositionOf(list[0])
	}
	f.remember(list)
	return list, nil
}

// next waits for events that were not listed yet. A fault that passes, such as
// a server that starts anew, is told once and waited out.
func (f *follower) next(ctx context.Context, errOut io.Writer) ([]metrics.Event, error) {
	for {
		select {
		case <-time.After(followEvery):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		list, err := f.look(ctx)
		switch {
		case err == nil:
			f.failing = false
		case ctx.Err() != nil || !passing(err):
			return nil, err
		case !f.failing:
			f.failing = true
			fmt.Fprintf(errOut, "cloche: %v; trying again\n", err)
		}
		if len(list) > 0 {
			return list, nil
		}
	}
}

// passing faults may be over by the next look; a refusal of what is asked stays.
func passing(err error) bool {
	refused, ok := errors.AsType[*refusedError](err)
	return !ok || refused.status >= 500 || refused.status == 429
}

func (f *follower) look(ctx context.Context) ([]metrics.Event, error) {
	filter := f.filter
	if since := f.newest.Add(-followLate); since.After(filter.Since) {
		filter.Since = since
	}
	list, err := f.pages(ctx, filter, mostEvents)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(e metrics.Event) bool {
		_, listed := f.seen[e.ID]
		return listed || f.floor.Newer(metrics.PositionOf(e))
	})
	f.remember(list)
	return list, nil
}

func (f *follower) remember(list []metrics.Event) {
	for _, e := range list {
		f.seen[e.ID] = e.Time
		if e.Time.After(f.newest) {
			f.newest = e.Time
		}
	}
	for id, at := range f.seen {
		if at.Before(f.newest.Add(-followLate)) {
			delete(f.seen, id)
		}
	}
}

// pages walks a listing with its cursor and turns it round.
func (f *follower) pages(ctx context.Context, filter metrics.Filter, most int) ([]metrics.Event, error) {
	var list []metrics.Event
	for len(list) < most {
		filter.Limit = min(most-len(list), metrics.MaxLimit)
		page, err := f.from.Events(ctx, filter)
		if err != nil {
			return nil, err
		}
		list = append(list, page.Events...)
		if page.Next == "" {
			break
		}
		filter.Cursor = page.Next
	}
	slices.Reverse(list)
	return list, nil
}
