// Package metrics holds what Cloche counts: the Event that each run leaves and
// the Snapshot that people and machines read. Everything that can be computed
// without a store is here, so that all stores agree: what an event adds
// (DeltaOf), how shards merge (Counters.Add), what the sums mean (State.Snapshot).
// Stores implement it elsewhere; metricstest says what a store must do.
//
// A store adds up named counters per scope and never reads its events to
// answer a Snapshot. That is why a Snapshot costs the same after ten runs and
// after ten million.
package metrics
