package dynamo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"cloche/internal/metrics"
)

// Record counts an event once, see metrics.Recorder.
func (s *Store) Record(ctx context.Context, e metrics.Event) error {
	now := s.options.Now()
	e, err := metrics.Admit(e, now)
	if err != nil {
		return err
	}
	if e.Time.After(now.Add(-s.options.EventAge)) {
		err = s.put(ctx, e)
	} else {
		err = s.putOld(ctx, e)
	}
	if err != nil {
		return fmt.Errorf("record event %s: %w", e.ID, err)
	}
	return nil
}

// put repeats the same transaction until it knows that the event is counted.
// The SDK sets the input's token at the first try, so that DynamoDB recognizes
// a repeat within ten minutes; the event's key recognizes it for as long as it
// lies there.
func (s *Store) put(ctx context.Context, e metrics.Event) error {
	input, err := s.transaction(e)
	if err != nil {
		return err
	}
	return persist(ctx, s.options.Patience, func(ctx context.Context) error {
		_, err := s.client.TransactWriteItems(ctx, input)
		if alreadyCounted(err) {
			return nil
		}
		return err
	})
}

// putOld tells a repeat of an event that is still there, which is no error,
// from one that may be a repeat.
func (s *Store) putOld(ctx context.Context, e metrics.Event) error {
	var found *dynamodb.GetItemOutput
	err := persist(ctx, s.options.Patience, func(ctx context.Context) (err error) {
		found, err = s.client.GetItem(ctx, &dynamodb.GetItemInput{
			TableName:                aws.String(s.options.Table),
			Key:                      key(eventPrefix+e.ID, eventName),
			ProjectionExpression:     aws.String("#k"),
			ExpressionAttributeNames: map[string]string{"#k": pkName},
			ConsistentRead:           aws.Bool(true),
		})
		return err
	})
	if err == nil && len(found.Item) == 0 {
		return metrics.ErrExpired
	}
	return err
}

// transaction has the event first: alreadyCounted relies on it.
func (s *Store) transaction(e metrics.Event) (*dynamodb.TransactWriteItemsInput, error) {
	event, err := s.record(e)
	if err != nil {
		return nil, err
	}
	writes := []types.TransactWriteItem{{Put: &types.Put{
		TableName:                aws.String(s.options.Table),
		Item:                     event,
		ConditionExpression:      aws.String("attribute_not_exists(#k)"),
		ExpressionAttributeNames: map[string]string{"#k": pkName},
	}}}
	delta := metrics.DeltaOf(e)
	for _, scope := range delta.Scopes {
		pk := partition(s.shard(e.ID), scope)
		writes = append(writes, s.addTotal(pk, delta), s.addMinute(pk, delta))
	}
	return &dynamodb.TransactWriteItemsInput{TransactItems: writes}, nil
}

func (s *Store) addTotal(pk string, d metrics.Delta) types.TransactWriteItem {
	add, names, values := addition(d.Totals)
	return s.update(key(pk, totalSort), add, names, values)
}

func (s *Store) addMinute(pk string, d metrics.Delta) types.TransactWriteItem {
	add, names, values := addition(d.Minutes)
	names["#x"] = expiresName
	values[":x"] = number(d.Minute.Add(s.options.MinuteAge + time.Minute).Unix())
	return s.update(key(pk, minuteSort(d.Minute)), "SET #x = :x "+add, names, values)
}

func (s *Store) update(k item, expression string, names map[string]string, values item) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{
		TableName:                 aws.String(s.options.Table),
		Key:                       k,
		UpdateExpression:          aws.String(expression),
		ExpressionAttributeNames:  names,
		ExpressionAttributeValues: values,
	}}
}

// alreadyCounted reports that the transaction was cancelled because the event's
// key is there. Whatever else is wrong with it does not matter then.
func alreadyCounted(err error) bool {
	var cancelled *types.TransactionCanceledException
	return errors.As(err, &cancelled) && len(cancelled.CancellationReasons) > 0 &&
		aws.ToString(cancelled.CancellationReasons[0].Code) == conditionFailed
}
