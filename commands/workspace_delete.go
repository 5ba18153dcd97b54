package commands

import (
	"time"

	"netsim/events"
	"netsim/fault"
)

// DeleteWorkspace hides a workspace at once; a reaction then deletes what it owns.
// Repeating it during that deletion changes nothing; afterwards it is NotFound.
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
