package commands

import (
	"time"

	"netsim/events"
)

// CreateTraceset records a traceset whose bytes are stored. Repeating it changes
// nothing; after a deletion it makes the traceset again.
type CreateTraceset struct {
	Created events.TracesetCreated
}

// Decide implements Command.
func (c CreateTraceset) Decide(t *Traceset, _ time.Time) (events.Data, error) {
	if t.Exists && !t.Deleted {
		return nil, nil
	}
	return c.Created, nil
}
