package commands

import (
	"time"

	"netsim/events"
)

// CreateMappingFile records a mapping file whose bytes are stored. Repeating it
// changes nothing.
type CreateMappingFile struct {
	Created events.MappingFileCreated
}

// Decide implements Command.
func (c CreateMappingFile) Decide(m *MappingFile, _ time.Time) (events.Data, error) {
	if m.Exists {
		return nil, nil
	}
	return c.Created, nil
}
