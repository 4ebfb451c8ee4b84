package dynamo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Options say where the table is and how it is used. A zero field means its
// default; Table has none.
type Options struct {
	Table     string
	Shards    int           // default 16; may grow on a table in use, must not shrink
	EventAge  time.Duration // age at which an event is forgotten; default 30 days
	MinuteAge time.Duration // age at which a minute is forgotten; default 48 h
	Patience  time.Duration // longest time to record an event, repeats included; default 2 s
	Now       func() time.Time
}

// DefaultShards is good for about 50 runs a second in one scope.
const DefaultShards = 16

// The shape of the table, as the template declares it.
const (
	pkName       = "pk"
	skName       = "sk"
	allKeyName   = "all_pk"
	tenantName   = "tenant_pk"
	atName       = "at"
	expiresName  = "expires"
	eventName    = "event"
	outcomeField = "outcome"
	allIndex     = "all"
	tenantIndex  = "tenant"
)

// client is what a Store needs of the SDK.
type client interface {
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
}

// Store is a metrics.Store. It may be used by many goroutines.
type Store struct {
	client  client
	options Options
}

// Open uses the region, credentials and endpoint that the SDK finds in the
// environment. It makes no request.
func Open(ctx context.Context, o Options) (*Store, error) {
	loaded, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("load AWS settings: %w", err)
	}
	return open(loaded, transport(), o)
}

func open(loaded aws.Config, t aws.HTTPClient, o Options) (*Store, error) {
	if o.Table == "" {
		return nil, errors.New("no name of a DynamoDB table")
	}
	if o.Shards < 0 {
		return nil, fmt.Errorf("%d shards", o.Shards)
	}
	o.Shards = cmp.Or(o.Shards, DefaultShards)
	o.EventAge = cmp.Or(o.EventAge, 30*24*time.Hour)
	o.MinuteAge = cmp.Or(o.MinuteAge, 48*time.Hour)
	o.Patience = cmp.Or(o.Patience, 2*time.Second)
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Store{
		options: o,
		client: dynamodb.NewFromConfig(loaded, func(d *dynamodb.Options) {
			d.HTTPClient = t
			d.Retryer = aws.NopRetryer{} // persist decides, see there
		}),
	}, nil
}

// transport forgets a connection after 5 s without use: a Lambda environment
// that was frozen for longer would find it cut.
func transport() aws.HTTPClient {
	return awshttp.NewBuildableClient().
		WithDialerOptions(func(d *net.Dialer) { d.Timeout = time.Second }).
		WithTransportOptions(func(t *http.Transport) {
			t.IdleConnTimeout = 5 * time.Second
			t.MaxIdleConnsPerHost = parallel
		})
}
