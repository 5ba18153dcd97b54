package commands

import "netsim/events"

// Seals is the state that decisions about a partition's seals need: the key of
// its last LogSealed.
type Seals struct {
	KeyID string `json:"keyId,omitempty"`
}

// Evolve applies an event.
func (s *Seals) Evolve(e events.Event) {
	if d, ok := e.Data.(events.LogSealed); ok {
		s.KeyID = d.KeyID
	}
}
