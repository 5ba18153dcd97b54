package commands

import (
	"time"

	"netsim/events"
)

// FinishWorkspaceDeletion records that everything a workspace owned is deleted.
// Repeating it changes nothing.
type FinishWorkspaceDeletion struct {
	ID      string
	Removed events.WorkspaceDeleted
}

// Decide implements Command.
func (c FinishWorkspaceDeletion) Decide(w *Workspace, _ time.Time) (events.Data, error) {
	if !w.Deleting || w.Deleted {
		return nil, nil
	}
	return c.Removed, nil
}
