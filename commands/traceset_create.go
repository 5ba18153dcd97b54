package commands

import (
	"time"

	"netsim/events"
)

// CreateTraceset records a traceset whose bytes are stored. Its id derives
// from what makes it, so who repeats it makes one; one that exists is left as
// it is.
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
