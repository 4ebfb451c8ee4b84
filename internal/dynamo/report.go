package dynamo

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"cloche/internal/snippet"
)

// reportName is the key of the one item in which the runner's last description
// of itself lies. Whoever may only read learns from it how snippets are isolated.
const reportName = "report"

type report struct {
	PK       string          `dynamodbav:"pk"`
	SK       string          `dynamodbav:"sk"`
	Reported int64           `dynamodbav:"reported"` // Unix milliseconds
	Runtime  snippet.Runtime `dynamodbav:"runtime"`  // by its JSON names
}

// SaveReport keeps what a runner said about itself at a time, in place of what
// was kept before.
func (s *Store) SaveReport(ctx context.Context, r snippet.Runtime, at time.Time) error {
	kept, err := attributevalue.MarshalMapWithOptions(report{reportName, reportName, at.UnixMilli(), r},
		func(o *attributevalue.EncoderOptions) { o.TagKey = "json" })
	if err != nil {
		return fmt.Errorf("encode report: %w", err)
	}
	err = persist(ctx, s.options.Patience, func(ctx context.Context) error {
		_, err := s.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(s.options.Table), Item: kept})
		return err
	})
	if err != nil {
		return fmt.Errorf("save report: %w", err)
	}
	return nil
}

// LastReport is what SaveReport kept, and when it was said. The time is zero if
// nobody has reported yet.
func (s *Store) LastReport(ctx context.Context) (snippet.Runtime, time.Time, error) {
	var found *dynamodb.GetItemOutput
	err := persist(ctx, s.options.Patience, func(ctx context.Context) (err error) {
		found, err = s.client.GetItem(ctx, &dynamodb.GetItemInput{
			TableName: aws.String(s.options.Table), Key: key(reportName, reportName),
		})
		return err
	})
	if err != nil {
		return snippet.Runtime{}, time.Time{}, fmt.Errorf("read report: %w", err)
	}
	if len(found.Item) == 0 {
		return snippet.Runtime{}, time.Time{}, nil
	}
	var r report
	err = attributevalue.UnmarshalMapWithOptions(found.Item, &r, func(o *attributevalue.DecoderOptions) { o.TagKey = "json" })
	if err != nil {
		return snippet.Runtime{}, time.Time{}, fmt.Errorf("decode report: %w", err)
	}
	return r.Runtime, time.UnixMilli(r.Reported).UTC(), nil
}
