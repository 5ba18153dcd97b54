package commands

import (
	"time"

	"netsim/events"
	"netsim/fault"
)

// DetachTraceset detaches the traceset. Repeating it is NotFound. Source:
// completions 3.5 row 37.
type DetachTraceset struct {
	ID    string
	Match Match
}

// Decide implements Command.
func (c DetachTraceset) Decide(s *Configuration, _ time.Time) (events.Data, error) {
	_, err := s.open(c.ID, c.Match)
	switch {
	case err != nil:
		return nil, err
	case s.TracesetID == "":
		return nil, fault.New(fault.NotFound, "configuration %s has no traceset attached", c.ID)
	case s.MappingFile != "":
		return nil, fault.New(fault.TracesetConflictsWithMapping, "mapping file %s is attached; detach it first", s.MappingFile)
	}
	return events.ConfigurationTracesetDetached{Version: s.Version + 1}, nil
}
