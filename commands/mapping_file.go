package commands

import "netsim/events"

// MappingFile is the state that decisions about a mapping file need.
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
