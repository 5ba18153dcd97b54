package commands

import (
	"time"

	"netsim/events"
)

// CreateConfiguration makes version 1 of a configuration: a draft, or, for a
// simple submission, one that is validated in the same step. A configuration
// that exists is left as it is, so a reaction may repeat itself.
type CreateConfiguration struct {
	Created events.ConfigurationCreated
}

// Decide implements Command.
func (c CreateConfiguration) Decide(s *Configuration, _ time.Time) (events.Data, error) {
	if s.Exists {
		return nil, nil
	}
	return c.Created, nil
}
