package commands

import (
	"time"

	"netsim/events"
)

// UpdateWorkspace changes the name or the description of a workspace. Setting the
// same values changes nothing.
type UpdateWorkspace struct {
	ID          string
	Name        string
	Description *string // nil: unchanged
	Match       Match
}

// Decide implements Command.
func (c UpdateWorkspace) Decide(w *Workspace, _ time.Time) (events.Data, error) {
	if err := w.live(c.ID); err != nil {
		return nil, err
	}
	if err := c.Match.Check(w.Version); err != nil {
		return nil, err
	}
	description := w.Description
	if c.Description != nil {
		description = *c.Description
	}
	if c.Name == w.Name && description == w.Description {
		return nil, nil
	}
	return events.WorkspaceUpdated{Name: c.Name, Description: description}, nil
}
