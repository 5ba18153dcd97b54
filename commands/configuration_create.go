package commands

import (
	"time"

	"netsim/events"
)

// Who besides its account reads a template. One without an account is built in,
// and visible to all.
const (
	VisibleToAccount = "account"
	VisibleToAll     = "public"
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
