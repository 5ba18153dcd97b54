package commands

import (
	"time"

	"netsim/events"
)

// MappingFile is what decisions about a mapping file need.
type MappingFile struct {
	created
	Deleted bool `json:"deleted,omitempty"`
}

// Evolve applies an event.
func (m *MappingFile) Evolve(e events.Event) {
	switch e.Data.(type) {
	case events.MappingFileCreated:
		m.Exists = true
	case events.MappingFileDeleted:
		m.Deleted = true
	}
}

// CreateMappingFile records a mapping file whose bytes are stored; a file that
// exists is left as it is.
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

// DeleteMappingFile removes a mapping file softly: configurations keep the
// reference to it, and simulations their copy.
type DeleteMappingFile struct {
	ID     string
	Reason string // request or workspace
}

// Decide implements Command.
func (c DeleteMappingFile) Decide(m *MappingFile, _ time.Time) (events.Data, error) {
	if !m.Exists || m.Deleted {
		return nil, notFound("mapping file", c.ID)
	}
	return events.MappingFileDeleted{Reason: c.Reason}, nil
}
