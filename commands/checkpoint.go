package commands

import "netsim/events"

// CheckpointStream returns the stream of a deployment's log checkpoints.
func CheckpointStream(platform string) string { return events.CheckpointPrefix + "_" + platform }

// Checkpoints is the state that decisions about log checkpoints need: the last
// one, and the accepted losses that the next must name.
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
