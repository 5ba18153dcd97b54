package commands

import (
	"time"

	"netsim/events"
	"netsim/fault"
)

// DetachMappingFile detaches the mapping file; the file itself stays. Repeating
// it is NotFound. Source: document 2.
type DetachMappingFile struct {
	ID    string
	Match Match
}

// Decide implements Command.
func (c DetachMappingFile) Decide(s *Configuration, _ time.Time) (events.Data, error) {
	_, err := s.open(c.ID, c.Match)
	switch {
	case err != nil:
		return nil, err
	case s.MappingFile == "":
		return nil, fault.New(fault.NotFound, "configuration %s has no mapping file attached", c.ID)
	}
	return events.ConfigurationMappingFileDetached{Version: s.Version + 1}, nil
}
