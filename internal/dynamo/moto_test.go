package dynamo

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"cloche/internal/metrics"
	"cloche/internal/metrics/metricstest"
	"cloche/internal/snippet"
)

// motoURL names a running server of moto, which answers as DynamoDB does.
const motoURL = "CLOCHE_MOTO_URL"

var tables atomic.Int64

// moto is a new table on the server, and how to open a store on it.
type moto struct {
	config aws.Config
	table  string
}

func newMoto(t *testing.T) moto {
	t.Helper()
	url := os.Getenv(motoURL)
	if url == "" {
		t.Skipf("%s names no server: run 'make test-aws'", motoURL)
	}
	m := moto{
		config: aws.Config{
			Region:       "eu-central-1",
			BaseEndpoint: aws.String(url),
			Credentials:  credentials.NewStaticCredentialsProvider("test", "test", ""),
		},
		table: fmt.Sprintf("cloche-%d-%d", os.Getpid(), tables.Add(1)),
	}
	api := dynamodb.NewFromConfig(m.config)
	if _, err := api.CreateTable(t.Context(), shape(m.table)); err != nil {
		t.Fatalf("make table on %s: %v", url, err)
	}
	t.Cleanup(func() {
		_, err := api.DeleteTable(context.Background(), &dynamodb.DeleteTableInput{TableName: aws.String(m.table)})
		if err != nil {
			t.Error(err)
		}
	})
	return m
}

// store is generous: the server does one thing at a time.
func (m moto) store(t *testing.T, transport aws.HTTPClient) *Store {
	t.Helper()
	s, err := open(m.config, transport, Options{Table: m.table, Patience: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// shape is the table as the template declares it.
func shape(name string) *dynamodb.CreateTableInput {
	in := &dynamodb.CreateTableInput{
		TableName:   aws.String(name),
		BillingMode: types.BillingModePayPerRequest,
		KeySchema:   keys(pkName, skName),
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{
			index(allIndex, allKeyName), index(tenantIndex, tenantName),
		},
	}
	for _, n := range []string{pkName, skName, allKeyName, tenantName, atName} {
		in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{
			AttributeName: aws.String(n), AttributeType: types.ScalarAttributeTypeS,
		})
	}
	return in
}

func index(name, partition string) types.GlobalSecondaryIndex {
	return types.GlobalSecondaryIndex{
		IndexName:  aws.String(name),
		KeySchema:  keys(partition, atName),
		Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
	}
}

func keys(hash, order string) []types.KeySchemaElement {
	return []types.KeySchemaElement{
		{AttributeName: aws.String(hash), KeyType: types.KeyTypeHash},
		{AttributeName: aws.String(order), KeyType: types.KeyTypeRange},
	}
}

func TestConformance(t *testing.T) {
	fixtures := sync.Map{}
	metricstest.Run(t, func(t *testing.T) metrics.Store {
		m := newMoto(t)
		s := m.store(t, transport())
		fixtures.Store(s, m)
		return s
	}, metricstest.Reopen(func(t *testing.T, s metrics.Store) metrics.Store {
		m, _ := fixtures.Load(s)
		return m.(moto).store(t, transport())
	}))
}

// faulty loses, refuses and throttles a part of the requests on their way.
type faulty struct {
	next  aws.HTTPClient
	count atomic.Int64
}

func (f *faulty) Do(r *http.Request) (*http.Response, error) {
	switch f.count.Add(1); rand.IntN(10) {
	case 0:
		return refused(r)
	case 1:
		return fault(400, "ThrottlingException")(r)
	case 2:
		return cancelled("None", conflict, "None", "None", "None")(r)
	case 3: // it was done, and nobody hears of it
		resp, err := f.next.Do(r)
		if err == nil {
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			err = syscall.ECONNRESET
		}
		return nil, err
	}
	return f.next.Do(r)
}

// 500 events by 16 writers, a third of them twice, two requests in five going
// wrong: each event is counted once.
func TestFaultsCountOnce(t *testing.T) {
	m := newMoto(t)
	f := &faulty{next: transport()}
	s := m.store(t, f)
	const n = 500
	work := make(chan metrics.Event)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for e := range work {
				if err := s.Record(t.Context(), e); err != nil {
					t.Errorf("record: %v", err)
				}
			}
		})
	}
	for i := range n {
		work <- metricstest.Event(i)
		if i%3 == 0 {
			work <- metricstest.Event(i)
		}
	}
	close(work)
	wg.Wait()
	checkCount(t, m.store(t, transport()), n)
	t.Logf("%d requests for %d events", f.count.Load(), n)
}

// After an outage the events that were not recorded are replayed, all of them
// to be safe, and the sums are exact.
func TestReplayIsExact(t *testing.T) {
	m := newMoto(t)
	up, down := m.store(t, transport()), m.store(t, &fake{script: []step{refused}})
	down.options.Patience = 20 * time.Millisecond
	const n = 60
	failed := 0
	for i := range n {
		s := up
		if i%3 == 0 {
			s = down
		}
		if err := s.Record(t.Context(), metricstest.Event(i)); err != nil {
			failed++
		}
	}
	checkCount(t, up, n-failed)
	for i := range n {
		if err := up.Record(t.Context(), metricstest.Event(i)); err != nil {
			t.Error(err)
		}
	}
	if failed != n/3 {
		t.Errorf("%d failed, want %d", failed, n/3)
	}
	checkCount(t, up, n)
}

func checkCount(t *testing.T, s *Store, want int) {
	t.Helper()
	snap, err := s.Snapshot(t.Context(), metrics.Everyone)
	if err != nil {
		t.Fatal(err)
	}
	page, err := s.Events(t.Context(), metrics.Filter{Limit: metrics.MaxLimit})
	if err != nil {
		t.Fatal(err)
	}
	if snap.Executions != int64(want) || snap.Duration.Count != int64(want) || len(page.Events) != want {
		t.Errorf("%d runs, %d durations, %d events; want %d", snap.Executions, snap.Duration.Count, len(page.Events), want)
	}
}

// counting counts requests.
type counting struct {
	next  aws.HTTPClient
	count atomic.Int64
}

func (c *counting) Do(r *http.Request) (*http.Response, error) {
	c.count.Add(1)
	return c.next.Do(r)
}

// A snapshot costs the same with 10 events and with 10,000.
func TestSnapshotCostIsConstant(t *testing.T) {
	m := newMoto(t)
	c := &counting{next: transport()}
	s := m.store(t, c)
	cost := func() int64 {
		before := c.count.Load()
		snap, err := s.Snapshot(t.Context(), metrics.Everyone)
		if err != nil || len(snap.Recent) == 0 {
			t.Fatalf("snapshot: %d events, error %v", len(snap.Recent), err)
		}
		return c.count.Load() - before
	}
	m.seed(t, s, 0, 10)
	few := cost()
	m.seed(t, s, 10, 10_000)
	if many := cost(); many != few {
		t.Errorf("%d requests with 10 events, %d with 10,000", few, many)
	}
	t.Logf("%d requests", few)
}

// seed puts events without their sums, 25 at a time.
func (m moto) seed(t *testing.T, s *Store, from, to int) {
	t.Helper()
	api := dynamodb.NewFromConfig(m.config)
	for from < to {
		var puts []types.WriteRequest
		for ; from < to && len(puts) < 25; from++ {
			i, err := s.record(metricstest.Event(from))
			if err != nil {
				t.Fatal(err)
			}
			puts = append(puts, types.WriteRequest{PutRequest: &types.PutRequest{Item: i}})
		}
		_, err := api.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{
			RequestItems: map[string][]types.WriteRequest{m.table: puts},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// The template declares the two endpoint variables empty, which must mean unset.
func TestOpenTakesTheEndpointFromTheEnvironment(t *testing.T) {
	t.Setenv("AWS_REGION", "eu-central-1")
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	t.Setenv("AWS_MAX_ATTEMPTS", "1")
	for endpoint, want := range map[string]string{
		"": "dynamodb.eu-central-1.amazonaws.com", "http://127.0.0.1:9": "127.0.0.1:9",
	} {
		t.Setenv("AWS_ENDPOINT_URL_DYNAMODB", endpoint)
		s, err := Open(t.Context(), Options{Table: "records"})
		if err != nil {
			t.Fatal(err)
		}
		var host string
		_, err = s.client.GetItem(t.Context(), &dynamodb.GetItemInput{
			TableName: aws.String("records"), Key: key("a", "b"),
		}, func(o *dynamodb.Options) {
			o.HTTPClient = doer(func(r *http.Request) (*http.Response, error) {
				host = r.URL.Host
				return answer(200, `{}`)(r)
			})
		})
		if err != nil || !strings.HasSuffix(host, want) {
			t.Errorf("endpoint %q leads to %q, error %v", endpoint, host, err)
		}
	}
	if _, err := Open(t.Context(), Options{}); err == nil {
		t.Error("a store without a table")
	}
}

type doer func(*http.Request) (*http.Response, error)

func (d doer) Do(r *http.Request) (*http.Response, error) { return d(r) }

func TestReport(t *testing.T) {
	s := newMoto(t).store(t, transport())
	if _, at, err := s.LastReport(t.Context()); err != nil || !at.IsZero() {
		t.Errorf("before the first: time %v, error %v", at, err)
	}
	said := snippet.Runtime{
		Python:   "3.13.5",
		Layers:   []snippet.Layer{{Name: "seccomp", Active: true, Detail: "in use", Means: "no processes"}},
		Packages: snippet.Packages{Omitted: 2},
	}
	for n := range snippet.MaxPackages { // the largest that is believed has to fit into an item
		said.Packages.List = append(said.Packages.List, snippet.Package{
			Module: fmt.Sprintf("m%0*d", snippet.MaxPackageText-1, n), Distribution: strings.Repeat("d", snippet.MaxPackageText),
			Version: strings.Repeat("1", snippet.MaxPackageText), Preloaded: n%2 == 0,
		})
	}
	at := time.UnixMilli(1893499200123).UTC()
	for range 2 {
		if err := s.SaveReport(t.Context(), said, at); err != nil {
			t.Fatal(err)
		}
	}
	got, when, err := s.LastReport(t.Context())
	if d := cmp.Diff(said, got); d != "" || !when.Equal(at) || err != nil {
		t.Errorf("report of %v (-want +got):\n%s%v", when, d, err)
	}
}
