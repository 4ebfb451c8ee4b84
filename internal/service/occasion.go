package service

import (
	"crypto/sha256"
	"time"

	"github.com/oklog/ulid/v2"
)

// Occasion is what a demo set is run for, such as one tick of a schedule. All
// that is run for the same one has the same identifiers, so that an occasion
// that is delivered twice counts once.
type Occasion struct {
	ID   string // empty: there is none, and every run has an identifier of its own
	Time time.Time
}

// run is the identifier of a case's run: the occasion's time, and a hash where
// others have chance.
func (o Occasion) run(name string) string {
	sum := sha256.Sum256([]byte(o.ID + "\x00" + name))
	var id ulid.ULID
	_ = id.SetTime(uint64(max(o.Time.UnixMilli(), 0)) % (ulid.MaxTime() + 1)) // in bounds: cannot fail
	_ = id.SetEntropy(sum[:10])                                               // of the right length: cannot fail
	return id.String()
}
