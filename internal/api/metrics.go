package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"cloche/internal/metrics"
	"cloche/internal/metrics/prom"
)

// Reader tells what was counted.
type Reader interface {
	Snapshot(ctx context.Context, scope string) (metrics.Snapshot, error)
	Events(ctx context.Context, f metrics.Filter) (metrics.Page, error)
}

// readTime bounds how long a reading of the records may take.
const readTime = 10 * time.Second

// The media types of GET /metrics. Who wants OpenMetrics can read the older
// text format too.
const (
	jsonType        = "application/json"
	textType        = "text/plain"
	openMetricsType = "application/openmetrics-text"
)

// Metrics is the answer of GET /metrics: what is in the records, and how busy
// this process is.
type Metrics struct {
	metrics.Snapshot
	Load Load `json:"load" nullable:"true" doc:"How busy this process is; not from the records. Null where many processes run snippets and none knows it."`
}

// Load is a metrics.Load as it is answered: null if it is not known.
type Load struct {
	unknown bool

	InFlight    int     `json:"in_flight" minimum:"0" doc:"Runs that have a slot now."`
	Waiting     int     `json:"waiting" minimum:"0" doc:"Requests in the waiting room now."`
	Refused     int64   `json:"refused" minimum:"0" doc:"Requests answered with 429 for want of a slot since this process started."`
	Invalid     int64   `json:"invalid" minimum:"0" doc:"Requests refused for what they were, with any 4xx but 429, since this process started. They are no runs."`
	QueueWaitMS float64 `json:"queue_wait_ms" minimum:"0" doc:"Time in milliseconds that admitted runs have waited for a slot since this process started, all together."`
}

// MarshalJSON makes null of what is not known: zeros would say that nobody waits.
func (l Load) MarshalJSON() ([]byte, error) {
	if l.unknown {
		return []byte("null"), nil
	}
	type known Load // without this method
	return encode(known(l))
}

// load adds to the service's load what never reaches the service.
func (s *server) load() metrics.Load {
	if s.config.RunsElsewhere {
		return metrics.Load{Unknown: true}
	}
	load := s.config.Service.Load()
	load.Invalid = s.invalid.Load()
	return load
}

func (s *server) metrics(w http.ResponseWriter, r *http.Request) {
	snapshot, err := s.snapshot(r.Context())
	if err != nil {
		s.refuse(w, r, problemFor(err))
		return
	}
	w.Header().Set("Vary", "Accept")
	if negotiate(r.Header, jsonType, textType, openMetricsType) == jsonType {
		s.write(w, http.StatusOK, jsonType, metricsOf(snapshot, s.load()))
		return
	}
	var text bytes.Buffer
	if err := prom.Write(&text, snapshot, s.load()); err != nil {
		s.refuse(w, r, problemFor(err))
		return
	}
	send(w, http.StatusOK, prom.ContentType, text.Bytes(), nil)
}

func (s *server) snapshot(caller context.Context) (metrics.Snapshot, error) {
	ctx, cancel := context.WithTimeout(caller, readTime)
	defer cancel()
	snapshot, err := s.config.Reader.Snapshot(ctx, metrics.Everyone)
	if err != nil {
		return snapshot, unreadable(caller, err)
	}
	return snapshot, nil
}

// errRecords means that the records could not be read.
var errRecords = errors.New("read the records")

// unreadable is the records' fault, unless the caller has left.
func unreadable(caller context.Context, err error) error {
	if caller.Err() != nil {
		return caller.Err()
	}
	return fmt.Errorf("%w: %w", errRecords, err)
}

func metricsOf(s metrics.Snapshot, l metrics.Load) Metrics {
	return Metrics{Snapshot: s, Load: Load{
		unknown:  l.Unknown,
		InFlight: l.InFlight, Waiting: l.Waiting, Refused: l.Refused, Invalid: l.Invalid,
		QueueWaitMS: float64(l.QueueWait) / float64(time.Millisecond),
	}}
}
