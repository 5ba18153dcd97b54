package commands

import (
	"time"

	"netsim/events"
)

// SealLog demands seals on all later records of a partition, made by this key or
// by a newer one. Repeating it with the same key changes nothing.
type SealLog struct{ KeyID string }

// Decide implements Command.
func (c SealLog) Decide(s *Seals, _ time.Time) (events.Data, error) {
	if s.KeyID == c.KeyID {
		return nil, nil
	}
	return events.LogSealed{KeyID: c.KeyID}, nil
}
