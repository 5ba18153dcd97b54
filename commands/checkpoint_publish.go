package commands

import (
	"time"

	"netsim/events"
	"netsim/fault"
)

// PublishCheckpoint publishes a signed log checkpoint. Each checkpoint names the
// one before it: Conflict when another was published since this one was made.
// Repeating the last one changes nothing.
type PublishCheckpoint struct {
	Checkpoint events.CheckpointPublished
	Previous   string // the note that it follows; "" for the first
}

// Decide implements Command.
func (c PublishCheckpoint) Decide(last *Checkpoints, _ time.Time) (events.Data, error) {
	switch {
	case last.Name == c.Checkpoint.Name:
		return nil, nil
	case last.Note != c.Previous:
		return nil, fault.New(fault.Conflict, "checkpoint %s was made before %s was published", c.Checkpoint.Name, last.Name)
	}
	return c.Checkpoint, nil
}
