package commands

import (
	"time"

	"netsim/events"
	"netsim/fault"
)

// DeleteWorkspace hides a workspace at once and has what it owns follow.
// Asking again while that goes on changes nothing; afterwards it is not found.
type DeleteWorkspace struct{ ID string }

// Decide implements Command.
func (c DeleteWorkspace) Decide(w *Workspace, _ time.Time) (events.Data, error) {
	switch {
	case !w.Exists || w.Deleted:
		return nil, fault.Missing("workspace", c.ID)
	case w.Deleting:
		return nil, nil
	}
	return events.WorkspaceDeletionRequested{}, nil
}
