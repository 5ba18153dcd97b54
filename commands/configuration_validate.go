package commands

import (
	"time"

	"netsim/events"
	"netsim/fault"
)

// ValidateConfiguration records what validation found about one version. It is a
// Conflict when there is a newer version. Repeating it changes nothing.
type ValidateConfiguration struct {
	ID       string
	Version  int64
	Status   string // Validated or Invalid
	Findings string // canonical JSON text
	Match    Match
}

// Decide implements Command.
func (c ValidateConfiguration) Decide(s *Configuration, _ time.Time) (events.Data, error) {
	if !s.Exists || s.Deleted {
		return nil, fault.Missing("configuration", c.ID)
	}
	if err := c.Match.Check(s.Version); err != nil {
		return nil, err
	}
	if s.Version != c.Version {
		return nil, fault.New(fault.Conflict, "configuration %s changed while it was validated", c.ID)
	}
	if s.Status == c.Status && s.Findings == c.Findings {
		return nil, nil
	}
	return events.ConfigurationValidated{Version: c.Version, Status: c.Status, Findings: c.Findings}, nil
}
