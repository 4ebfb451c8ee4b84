package metricstest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"cloche/internal/metrics"
	"cloche/internal/snippet"
)

func testScopes(t *testing.T, s metrics.Store) {
	events := varied(150)
	recordAll(t, s, events)
	for _, tenant := range []string{"tenant-0", "tenant-1", "tenant-2"} {
		own := slices.DeleteFunc(slices.Clone(events), func(e metrics.Event) bool { return e.Tenant != tenant })
		snap := snapshot(t, s, tenant)
		checkSums(t, snap, own)
		same(t, snap.Recent, metrics.Newest(own, metrics.RecentEvents))
		same(t, list(t, s, metrics.Filter{Scope: tenant, Limit: 500}).Events, metrics.Newest(own, 500))
	}
	same(t, snapshot(t, s, "tenant").Executions, 0)
}

func testRecent(t *testing.T, s metrics.Store) {
	events := varied(120)
	recordAll(t, s, events)
	snap := snapshot(t, s, metrics.Everyone)
	same(t, len(snap.Recent), metrics.RecentEvents)
	same(t, snap.Recent, metrics.Newest(events, metrics.RecentEvents))
	checkSeries(t, snap)
}

// testOrder: at equal times the greater ID comes first, whatever came last.
func testOrder(t *testing.T, s metrics.Store) {
	at := time.Now().UTC().Truncate(time.Second)
	var want []string
	for _, n := range []int{3, 1, 4, 2, 5} {
		e := Event(n)
		e.Time = at
		recordAll(t, s, []metrics.Event{e})
		want = append(want, e.ID)
	}
	slices.Sort(want)
	slices.Reverse(want)
	same(t, ids(snapshot(t, s, metrics.Everyone).Recent), want)
	same(t, ids(list(t, s, metrics.Filter{}).Events), want)
}

// testPages: pages of any size make up the whole, though many times are equal
// and new events come in between.
func testPages(t *testing.T, s metrics.Store) {
	events := varied(60)
	for i := range events {
		events[i].Time = events[0].Time.Add(-time.Duration(i/10) * time.Second)
	}
	recordAll(t, s, events)
	want := ids(metrics.Newest(events, len(events)))
	for _, limit := range []int{1, 7, 20, 60, 61} {
		same(t, ids(walk(t, s, metrics.Filter{Limit: limit}, nil)), want)
	}
	fresh := 1000
	got := walk(t, s, metrics.Filter{Limit: 7}, func() {
		fresh++
		recordAll(t, s, []metrics.Event{Event(fresh)})
	})
	same(t, ids(got), want)
}

func walk(t *testing.T, s metrics.Store, f metrics.Filter, between func()) []metrics.Event {
	t.Helper()
	var all []metrics.Event
	for range 100 {
		page := list(t, s, f)
		if len(page.Events) > f.Limit {
			t.Fatalf("page of %d events, the limit is %d", len(page.Events), f.Limit)
		}
		all = append(all, page.Events...)
		if f.Cursor = page.Next; f.Cursor == "" {
			return all
		}
		if between != nil {
			between()
		}
	}
	t.Fatal("the listing has no end")
	return nil
}

func testFilter(t *testing.T, s metrics.Store) {
	events := varied(200)
	recordAll(t, s, events)
	since := events[0].Time.Add(-10 * time.Minute)
	for _, f := range []metrics.Filter{
		{},
		{Outcome: snippet.Timeout},
		{Since: since},
		{Since: since, Outcome: snippet.Error, Scope: "tenant-1"},
		{Since: time.Now().Add(time.Hour)},
		{Since: events[17].Time},
	} {
		f.Limit = 30
		chosen := slices.DeleteFunc(slices.Clone(events), func(e metrics.Event) bool { return !f.Matches(e) })
		same(t, ids(walk(t, s, f, nil)), ids(metrics.Newest(chosen, len(chosen))))
	}
}

func testBadFilter(t *testing.T, s metrics.Store) {
	recordAll(t, s, varied(3))
	for _, f := range []metrics.Filter{
		{Limit: -1},
		{Limit: metrics.MaxLimit + 1},
		{Outcome: "ok"},
		{Cursor: "x"},
		{Cursor: "12."},
		{Cursor: "1.' OR 1=1 --"},
		{Cursor: fmt.Sprintf("%d9999999999999.01A", time.Now().UnixMilli())},
	} {
		if _, err := s.Events(t.Context(), f); !errors.Is(err, metrics.ErrFilter) {
			t.Errorf("filter %+v: error %v, want ErrFilter", f, err)
		}
	}
}
