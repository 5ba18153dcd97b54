package commands

import (
	"netsim/events"
	"netsim/fault"
)

// Workspace is the state that decisions about a workspace need.
type Workspace struct {
	created
	AccountID       string `json:"accountId,omitempty"`
	Owner           string `json:"owner,omitempty"`
	Name            string `json:"name,omitempty"`
	Description     string `json:"description,omitempty"`
	LegacyProjectID string `json:"legacyProjectId,omitempty"`
	Version         int64  `json:"version,omitempty"` // counts changes, from 1
	Deleting        bool   `json:"deleting,omitempty"`
	Deleted         bool   `json:"deleted,omitempty"`
}

// Evolve applies an event.
func (w *Workspace) Evolve(e events.Event) {
	switch d := e.Data.(type) {
	case events.WorkspaceCreated:
		w.Exists, w.AccountID, w.Owner, w.Name, w.Description = true, d.AccountID, d.Owner, d.Name, d.Description
		w.Version = 1
	case events.WorkspaceUpdated:
		w.Name, w.Description = d.Name, d.Description
		w.Version++
	case events.WorkspaceLegacyProjectSet:
		w.LegacyProjectID = d.LegacyProjectID
		w.Version++
	case events.WorkspaceDeletionRequested:
		w.Deleting = true
	case events.WorkspaceDeleted:
		w.Deleted = true
	}
}

// live returns NotFound for a workspace that does not exist, or that is being
// deleted and so hidden from its users.
func (w *Workspace) live(id string) error {
	if !w.Exists || w.Deleting || w.Deleted {
		return fault.Missing("workspace", id)
	}
	return nil
}
