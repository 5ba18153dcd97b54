package commands

import (
	"time"

	"netsim/events"
)

// UseTraceset postpones the expiry of a traceset. It changes nothing if the traceset
// does not expire, or within an hour of its creation or last recorded use. Source:
// completions 6.4, 8 row 37.
type UseTraceset struct {
	ID  string
	Use string // download, resolve, attach or simulation
}

// Decide implements Command.
func (c UseTraceset) Decide(t *Traceset, now time.Time) (events.Data, error) {
	if err := t.live(c.ID); err != nil {
		return nil, err
	}
	if t.ExpiresAt.IsZero() || now.Sub(t.UsedAt) < time.Hour {
		return nil, nil
	}
	return events.TracesetUsed{Use: c.Use, ExpiresAt: now.AddDate(0, 0, int(t.TTLDays))}, nil
}
