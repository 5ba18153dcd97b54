package commands

import (
	"time"

	"netsim/events"
	"netsim/fault"
)

// DeleteMappingFile removes a mapping file softly: configurations keep the
// reference to it, and simulations their copy.
type DeleteMappingFile struct {
	ID     string
	Reason string // request or workspace
}

// Decide implements Command.
func (c DeleteMappingFile) Decide(m *MappingFile, _ time.Time) (events.Data, error) {
	if !m.Exists || m.Deleted {
		return nil, fault.Missing("mapping file", c.ID)
	}
	return events.MappingFileDeleted{Reason: c.Reason}, nil
}
