package commands

import (
	"time"

	"netsim/events"
)

// DeleteTraceset removes a traceset. For the reason "expired" it changes nothing
// unless the traceset has expired. Repeating it is NotFound.
type DeleteTraceset struct {
	ID     string
	Reason string // request, expired or workspace
}

// Decide implements Command.
func (c DeleteTraceset) Decide(t *Traceset, now time.Time) (events.Data, error) {
	if err := t.live(c.ID); err != nil {
		return nil, err
	}
	if c.Reason == "expired" && (t.ExpiresAt.IsZero() || now.Before(t.ExpiresAt)) {
		return nil, nil
	}
	return events.TracesetDeleted{Reason: c.Reason}, nil
}
