package commands

import (
	"time"

	"netsim/events"
)

// Traceset is what decisions about a traceset need.
type Traceset struct {
	created
	Status  string `json:"status,omitempty"`
	Deleted bool   `json:"deleted,omitempty"`
}

// Evolve applies an event.
func (t *Traceset) Evolve(e events.Event) {
	switch d := e.Data.(type) {
	case events.TracesetCreated:
		t.Exists, t.Status, t.Deleted = true, d.Status, false
	case events.TracesetDeleted:
		t.Deleted = true
	}
}

// CreateTraceset records a traceset whose bytes are stored. Its id derives
// from its content, so identical workloads share one; one that exists is left
// as it is.
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

// DeleteTraceset removes a traceset.
type DeleteTraceset struct {
	ID     string
	Reason string
}

// Decide implements Command.
func (c DeleteTraceset) Decide(t *Traceset, _ time.Time) (events.Data, error) {
	if !t.Exists || t.Deleted {
		return nil, notFound("traceset", c.ID)
	}
	return events.TracesetDeleted{Reason: c.Reason}, nil
}
