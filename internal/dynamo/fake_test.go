package dynamo

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
)

// fake is a transport that answers from a script and keeps what was asked. The
// last step answers all further requests.
type fake struct {
	mu     sync.Mutex
	script []step
	asked  []request
}

type step func(*http.Request) (*http.Response, error)

type request struct {
	operation string
	body      map[string]any
}

func (f *fake) Do(r *http.Request) (*http.Response, error) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	asked := request{operation: operation}
	if err := json.Unmarshal(raw, &asked.body); err != nil {
		return nil, err
	}
	f.mu.Lock()
	f.asked = append(f.asked, asked)
	next := f.script[0]
	if len(f.script) > 1 {
		f.script = f.script[1:]
	}
	f.mu.Unlock()
	return next(r)
}

// answer is an answer of the service.
func answer(status int, body string) step {
	return func(r *http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode: status,
			Header:     http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
			Body:       io.NopCloser(strings.NewReader(body)),
			Request:    r,
		}, nil
	}
}

// fault is an error of the service, by its short name.
func fault(status int, name string) step {
	return answer(status, fmt.Sprintf(`{"__type":"com.amazonaws.dynamodb.v20120810#%s","message":"no"}`, name))
}

// cancelled is a cancelled transaction with the given reasons.
func cancelled(codes ...string) step {
	var reasons []string
	for _, c := range codes {
		reasons = append(reasons, fmt.Sprintf(`{"Code":%q}`, c))
	}
	return answer(400, fmt.Sprintf(
		`{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","Message":"cancelled","CancellationReasons":[%s]}`,
		strings.Join(reasons, ",")))
}

// broken is a request to which no answer comes.
func broken(err error) step {
	return func(*http.Request) (*http.Response, error) { return nil, err }
}

// hanging answers when the caller no longer waits.
func hanging(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

var done = answer(200, `{}`)

func storeOn(t *testing.T, transport aws.HTTPClient, o Options) *Store {
	t.Helper()
	o.Table = "records"
	s, err := open(aws.Config{
		Region:      "eu-central-1",
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
	}, transport, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// patient is enough for every script here.
var patient = Options{Patience: 800 * time.Millisecond}

// inBubble runs a subtest whose time passes only while nothing can go on, so that
// a busy machine changes nothing of what comes first.
func inBubble(t *testing.T, name string, test func(*testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(30 * 365 * 24 * time.Hour) // it begins in 2000, of which there are no events
			test(t)
		})
	})
}
