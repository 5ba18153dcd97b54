package commands

import "netsim/events"

// Operation is the state of a command of an operator. One process appends both events to
// its stream, and nothing else is decided on it.
type Operation struct {
	Ended bool `json:"ended,omitempty"`
}

// Evolve applies an event.
func (o *Operation) Evolve(e events.Event) {
	_, o.Ended = e.Data.(events.OperationEnded)
}
