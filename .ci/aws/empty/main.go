// Command empty is what POST /execute is measured against in the emulator: a
// handler that does nothing, and one that only records a run.
package main

import (
	"context"
	"log"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/oklog/ulid/v2"

	"cloche/internal/dynamo"
	"cloche/internal/metrics"
	"cloche/internal/snippet"
)

func main() {
	store, err := dynamo.Open(context.Background(), dynamo.Options{Table: os.Getenv("CLOCHE_TABLE")})
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(func(ctx context.Context, e events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
		if e.Path == "/record" {
			if err := store.Record(ctx, event()); err != nil {
				return events.APIGatewayProxyResponse{}, err
			}
		}
		return events.APIGatewayProxyResponse{StatusCode: 200, Body: "{}"}, nil
	})
}

func event() metrics.Event {
	return metrics.Event{
		ID: ulid.Make().String(), Time: time.Now(), Tenant: "default", Outcome: snippet.OK, Reason: snippet.Completed, DurationMS: 1,
		CodeSHA256: strings.Repeat("0", 64), CodeBytes: 8,
	}
}
