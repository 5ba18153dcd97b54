package commands

import (
	"time"

	"netsim/events"
	"netsim/fault"
)

// DeleteMappingFile deletes a mapping file. Configurations keep their reference
// to it, and simulations their copy. Repeating it is NotFound.
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
