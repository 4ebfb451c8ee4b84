// Package metricstest is the specification of a metrics.Store as a test, and
// Memory, the plainest store that passes it.
package metricstest

import (
	"testing"

	"cloche/internal/metrics"
)

// Option adds to what Run tests.
type Option func(*suite)

// Reopen says how to end a store and open it again on the same data, as after a
// restart. Without it, Run does not test that anything lasts.
func Reopen(reopen func(*testing.T, metrics.Store) metrics.Store) Option {
	return func(s *suite) { s.reopen = reopen }
}

type suite struct {
	newStore func(*testing.T) metrics.Store
	reopen   func(*testing.T, metrics.Store) metrics.Store
}

// Run tests a store. newStore makes an empty one for each case and cleans up by
// t.Cleanup; the store must remember at least 1000 events.
func Run(t *testing.T, newStore func(*testing.T) metrics.Store, options ...Option) {
	s := &suite{newStore: newStore}
	for _, o := range options {
		o(s)
	}
	for name, test := range map[string]func(*testing.T, metrics.Store){
		"empty":               testEmpty,
		"one event":           testOne,
		"sums":                testSums,
		"repeats at once":     testRepeatsAtOnce,
		"many writers":        testManyWriters,
		"repeat of other":     testRepeatDiffers,
		"minute series":       testSeries,
		"scopes":              testScopes,
		"recent":              testRecent,
		"order":               testOrder,
		"pages":               testPages,
		"filter":              testFilter,
		"bad filter":          testBadFilter,
		"largest values":      testLargest,
		"hostile text":        testHostileText,
		"hostile scope":       testHostileScope,
		"invalid events":      testInvalid,
		"ended context":       testContext,
		"reopen":              s.testReopen,
		"consistent snapshot": testConsistent,
	} {
		t.Run(name, func(t *testing.T) { test(t, newStore(t)) })
	}
}

func (s *suite) testReopen(t *testing.T, store metrics.Store) {
	if s.reopen == nil {
		t.Skip("nothing said about reopening")
	}
	events := varied(200)
	recordAll(t, store, events)
	before := snapshot(t, store, metrics.Everyone)
	store = s.reopen(t, store)
	same(t, still(snapshot(t, store, metrics.Everyone)), still(before))
	recordAll(t, store, events)
	same(t, still(snapshot(t, store, metrics.Everyone)), still(before))
}
