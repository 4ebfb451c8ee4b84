package metrics

import "time"

// Load is how busy this process is now, and what it turned away. It comes from
// the process and not from a store, and starts at zero with it.
type Load struct {
	Unknown bool // others run snippets too, so no process knows it; the rest means nothing

	InFlight  int           // runs that have a slot
	Waiting   int           // requests in the waiting room
	Refused   int64         // requests that got no slot in time
	Invalid   int64         // requests that were refused for what they were; nothing ran
	QueueWait time.Duration // time that admitted runs have waited, all together
}
