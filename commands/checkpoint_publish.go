package commands

import (
	"time"

	"netsim/events"
	"netsim/fault"
)

// PublishCheckpoint writes a signed checkpoint to the log. Each names the one
// before it, so it is refused when another was published since it was made.
// Repeating the last one publishes nothing.
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
