package commands

import (
	"time"

	"netsim/events"
)

// The visibilities of a template: to its own account, or to all accounts. A built-in
// template has no account and is visible to all.
const (
	VisibleToAccount = "account"
	VisibleToAll     = "public"
)

// CreateConfiguration makes version 1 of a configuration. It is a draft, or, for
// a simple submission, already validated. Repeating it changes nothing.
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
