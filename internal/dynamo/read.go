package dynamo

import (
	"context"
	"fmt"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"cloche/internal/metrics"
)

// parallel is how many queries one reader has under way at most.
const parallel = 32

// readers is how much more patience than a record each query has: no run waits
// for it, and the first reader of a process makes all its connections at once.
const readers = 3

// Snapshot sums up a scope, see metrics.Reader.
func (s *Store) Snapshot(ctx context.Context, scope string) (metrics.Snapshot, error) {
	state := metrics.State{
		Scope: scope, Now: s.options.Now(),
		Totals: metrics.Counters{}, Minutes: map[int64]metrics.Counters{},
	}
	newest, after, err := metrics.Filter{Scope: scope, Limit: metrics.RecentEvents}.Check()
	if err != nil {
		return metrics.Snapshot{}, err
	}
	var mu sync.Mutex
	err = each(ctx, 2*s.options.Shards, func(ctx context.Context, i int) error {
		if i < s.options.Shards {
			return s.readSums(ctx, i, &mu, &state)
		}
		found, err := s.newest(ctx, i-s.options.Shards, newest, after, newest.Limit)
		mu.Lock()
		defer mu.Unlock()
		state.Recent = append(state.Recent, found...)
		return err
	})
	if err != nil {
		return metrics.Snapshot{}, fmt.Errorf("take snapshot: %w", err)
	}
	return state.Snapshot(), nil
}

// readSums adds what lies in one shard: its total and the minutes of the series.
func (s *Store) readSums(ctx context.Context, shard int, mu *sync.Mutex, state *metrics.State) error {
	input := &dynamodb.QueryInput{
		TableName:                aws.String(s.options.Table),
		KeyConditionExpression:   aws.String("#p = :p AND #s BETWEEN :from AND :to"),
		ExpressionAttributeNames: map[string]string{"#p": pkName, "#s": skName},
		ExpressionAttributeValues: item{
			":p":    text(partition(shard, state.Scope)),
			":from": text(minuteSort(metrics.SeriesStart(state.Now))),
			":to":   text(totalSort),
		},
		ConsistentRead: aws.Bool(true),
	}
	return s.query(ctx, input, func(i item) (bool, error) {
		mu.Lock()
		defer mu.Unlock()
		return true, addSums(state, i)
	})
}

func addSums(state *metrics.State, i item) error {
	c, err := countersOf(i)
	if err != nil {
		return err
	}
	var sort string
	if sort, err = textOf(i, skName); err != nil {
		return err
	}
	if sort == totalSort {
		state.Totals.Add(c)
		return nil
	}
	at, err := minuteOf(sort)
	if err != nil {
		return fmt.Errorf("read minute: %w", err)
	}
	if state.Minutes[at] == nil {
		state.Minutes[at] = metrics.Counters{}
	}
	state.Minutes[at].Add(c)
	return nil
}

// Events lists what the table still holds, see metrics.Reader. Each shard is
// asked for a whole page, and a rare outcome can make it read all of a scope's
// events.
func (s *Store) Events(ctx context.Context, f metrics.Filter) (metrics.Page, error) {
	f, after, err := f.Check()
	if err != nil {
		return metrics.Page{}, err
	}
	var mu sync.Mutex
	var all []metrics.Event
	err = each(ctx, s.options.Shards, func(ctx context.Context, shard int) error {
		found, err := s.newest(ctx, shard, f, after, f.Limit+1)
		mu.Lock()
		defer mu.Unlock()
		all = append(all, found...)
		return err
	})
	if err != nil {
		return metrics.Page{}, fmt.Errorf("list events: %w", err)
	}
	return f.PageOf(metrics.Newest(all, f.Limit+1)), nil // one more tells whether there are more
}

// newest reads the first n events of a shard that match the filter and come
// after the position.
func (s *Store) newest(ctx context.Context, shard int, f metrics.Filter, after metrics.Position, n int) ([]metrics.Event, error) {
	oldest := s.options.Now().Add(-s.options.EventAge)
	if f.Since.After(oldest) {
		oldest = f.Since
	}
	since := metrics.Position{Millis: oldest.UnixMilli()}
	if since.Newer(after) {
		return nil, nil
	}
	var found []metrics.Event
	err := s.query(ctx, s.listing(shard, f, since, after, n), func(i item) (bool, error) {
		e, err := eventOf(i)
		if err == nil && after.Newer(metrics.PositionOf(e)) && f.Matches(e) {
			found = append(found, e)
		}
		return len(found) < n, err
	})
	return found, err
}

func (s *Store) listing(shard int, f metrics.Filter, since, after metrics.Position, n int) *dynamodb.QueryInput {
	index, partitionName := allIndex, allKeyName
	if f.Scope != metrics.Everyone {
		index, partitionName = tenantIndex, tenantName
	}
	input := &dynamodb.QueryInput{
		TableName:                aws.String(s.options.Table),
		IndexName:                aws.String(index),
		KeyConditionExpression:   aws.String("#p = :p AND #at BETWEEN :since AND :after"),
		ExpressionAttributeNames: map[string]string{"#p": partitionName, "#at": atName},
		ExpressionAttributeValues: item{
			":p":     text(partition(shard, f.Scope)),
			":since": text(sortKey(since)),
			":after": text(sortKey(after)),
		},
		ScanIndexForward: aws.Bool(false),
	}
	if f.Outcome == "" {
		input.Limit = aws.Int32(int32(n) + 1) // BETWEEN includes the position itself
		return input
	}
	input.FilterExpression = aws.String("#event.#outcome = :outcome")
	input.ExpressionAttributeNames["#event"] = eventName
	input.ExpressionAttributeNames["#outcome"] = outcomeField
	input.ExpressionAttributeValues[":outcome"] = text(string(f.Outcome))
	return input
}

// query gives take each item, page by page, until take wants no more.
func (s *Store) query(ctx context.Context, input *dynamodb.QueryInput, take func(item) (more bool, err error)) error {
	for {
		var page *dynamodb.QueryOutput
		err := persist(ctx, readers*s.options.Patience, func(ctx context.Context) (err error) {
			page, err = s.client.Query(ctx, input)
			return err
		})
		if err != nil {
			return err
		}
		for _, i := range page.Items {
			if more, err := take(i); err != nil || !more {
				return err
			}
		}
		if len(page.LastEvaluatedKey) == 0 {
			return nil
		}
		input.ExclusiveStartKey = page.LastEvaluatedKey
	}
}
