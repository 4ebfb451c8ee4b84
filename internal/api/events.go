package api

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"cloche/internal/metrics"
	"cloche/internal/snippet"
)

func (s *server) events(w http.ResponseWriter, r *http.Request) {
	filter, err := eventFilter(r.URL.RawQuery)
	if err != nil {
		s.refuse(w, r, problemFor(err))
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), readTime)
	defer cancel()
	page, err := s.config.Reader.Events(ctx, filter)
	if err != nil {
		s.refuse(w, r, problemFor(unreadable(r.Context(), err)))
		return
	}
	s.write(w, http.StatusOK, jsonType, page)
}

// parameter is one of a query: where its value goes, if it is good, and what
// must be said if it is not.
type parameter struct {
	set  func(f *metrics.Filter, value string) error
	must string
}

var eventParameters = map[string]parameter{
	"outcome": {setOutcome, "must be OK, BLOCKED, TIMEOUT or ERROR"},
	"since":   {setSince, "must be a time as in RFC 3339, such as 2030-01-31T12:00:00Z"},
	"limit":   {setLimit, fmt.Sprintf("must be a whole number from 1 to %d", metrics.MaxLimit)},
	"cursor":  {setCursor, "must be the value of next in the page before"},
}

// eventFilter reads a query. The error names every parameter that is unknown,
// repeated or not as it must be, and repeats no value.
func eventFilter(query string) (metrics.Filter, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return metrics.Filter{}, snippet.FieldErrors{{Field: "query", Problem: "must be name=value pairs with & between them"}}
	}
	var filter metrics.Filter
	d := &decoder{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		p, known := eventParameters[name]
		switch given := values[name]; {
		case !known:
			d.fault(shorten(name), "is not a parameter of this path")
		case len(given) > 1:
			d.fault(name, "must be given once")
		case p.set(&filter, given[0]) != nil:
			d.fault(name, p.must)
		}
		if len(d.faults) == maxUnknown {
			break
		}
	}
	if len(d.faults) > 0 {
		return filter, d.faults
	}
	return filter, nil
}

var errValue = errors.New("not a value of this parameter")

func setOutcome(f *metrics.Filter, value string) error {
	f.Outcome = snippet.Outcome(value)
	if !slices.Contains(snippet.Outcomes(), f.Outcome) {
		return errValue
	}
	return nil
}

func setSince(f *metrics.Filter, value string) (err error) {
	f.Since, err = time.Parse(time.RFC3339, value)
	return err
}

func setLimit(f *metrics.Filter, value string) (err error) {
	if f.Limit, err = strconv.Atoi(value); err == nil && (f.Limit < 1 || f.Limit > metrics.MaxLimit) {
		return errValue
	}
	return err
}

func setCursor(f *metrics.Filter, value string) error {
	f.Cursor = value
	if value == "" {
		return errValue
	}
	_, _, err := metrics.Filter{Cursor: value}.Check()
	return err
}
