package commands

import (
	"time"

	"netsim/events"
	"netsim/fault"
)

// CheckpointStream returns the stream of a deployment's checkpoints.
func CheckpointStream(platform string) string { return events.CheckpointPrefix + "_" + platform }

// Checkpoints is what decisions about checkpoints need: the last one, and what
// the next has to name.
type Checkpoints struct {
	Name   string    `json:"name,omitempty"`
	Note   string    `json:"note,omitempty"`
	Losses []LogLoss `json:"losses,omitempty"`
}

// LogLoss names the event by which an operator accepted a loss of the log.
type LogLoss struct {
	Sequence int64  `json:"sequence"`
	EventID  string `json:"eventId"`
}

// Evolve applies an event.
func (c *Checkpoints) Evolve(e events.Event) {
	switch d := e.Data.(type) {
	case events.CheckpointPublished:
		c.Name, c.Note = d.Name, d.Note
	case events.LogLossAccepted:
		c.Losses = append(c.Losses, LogLoss{e.Sequence, e.ID})
	}
}

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
