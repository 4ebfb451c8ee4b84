// Package dynamo keeps what Cloche counts in one DynamoDB table. It is the store
// on AWS; metricstest says what it does, this package only knows how.
//
// Three kinds of items share the table. N is a shard, hash(event id) mod Shards:
//
//	pk               sk            what
//	event#ID         event         one event; the key makes its ID count once
//	N#all, N#tenant#T  total       the sums of a scope, kept for ever
//	N#all, N#tenant#T  minute#UNIX the sums of a minute, which expire
//	report             report      what the runner last said about itself
//
// One TransactWriteItems puts the event on the condition that it is new and adds
// to the sums of its two scopes: five items, ten write units, and two more for
// the indexes. Shards keep writers off each other's items, since two transactions
// that meet at one item cancel each other. The number of shards may grow, because
// readers add up all of them; after it shrank, sums would be missing.
//
// The sparse indexes "all" and "tenant" hold the events of a shard in order of
// time. They follow the table by a moment, so the newest run can be in the sums
// and not yet in a listing.
//
// A Snapshot is two queries for each shard, however many events there are.
package dynamo
