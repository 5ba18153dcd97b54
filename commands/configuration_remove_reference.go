package commands

import (
	"time"

	"netsim/events"
	"netsim/fault"
)

// RemoveReference removes a reference from a holder; the component stays
// declared. Repeating it is NotFound. Source: completions 3.5 rows 16, 21, 29.
type RemoveReference struct {
	ID     string
	Match  Match
	In     HolderKind
	Holder string // its name; "" for the topology
	Name   string
}

// Decide implements Command.
func (c RemoveReference) Decide(s *Configuration, _ time.Time) (events.Data, error) {
	_, holder, err := s.holder(c.ID, c.Match, c.In, c.Holder)
	if err != nil {
		return nil, err
	}
	if _, found := holder.Reference(c.Name); !found {
		return nil, fault.Missing("component", c.Name)
	}
	return events.ConfigurationReferenceRemoved{
		Version: s.Version + 1, HolderKind: holder.Type, Holder: c.Holder, Name: c.Name,
	}, nil
}
