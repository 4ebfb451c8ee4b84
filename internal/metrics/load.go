package metrics

import "time"

// Load is how busy this process is now. It comes from the pool of sandboxes
// and not from a store, and starts at zero with the process.
type Load struct {
	InFlight  int           // runs that have a slot
	Waiting   int           // requests in the waiting room
	Refused   int64         // requests that got no slot in time
	QueueWait time.Duration // time that admitted runs have waited, all together
}
