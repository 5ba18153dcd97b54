package commands

import (
	"time"

	"netsim/events"
	"netsim/fault"
)

// DeleteConfiguration removes a configuration. Simulations keep their copy.
// Repeating it is NotFound.
type DeleteConfiguration struct {
	ID     string
	Reason string // request or workspace
	Match  Match
}

// Decide implements Command.
func (c DeleteConfiguration) Decide(s *Configuration, _ time.Time) (events.Data, error) {
	if !s.Exists || s.Deleted {
		return nil, fault.Missing("configuration", c.ID)
	}
	if err := c.Match.Check(s.Version); err != nil {
		return nil, err
	}
	return events.ConfigurationDeleted{Reason: c.Reason}, nil
}
