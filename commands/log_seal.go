package commands

import (
	"time"

	"netsim/events"
)

// SealLog demands that a partition's records be sealed from here on, by this
// key or one that is new. Repeating it with the same key does nothing.
type SealLog struct{ KeyID string }

// Decide implements Command.
func (c SealLog) Decide(s *Seals, _ time.Time) (events.Data, error) {
	if s.KeyID == c.KeyID {
		return nil, nil
	}
	return events.LogSealed{KeyID: c.KeyID}, nil
}
