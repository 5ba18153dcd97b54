package commands

import (
	"time"

	"netsim/events"
	"netsim/fault"
)

// CreateWorkspace makes a workspace. Its id is new or derives from the idempotency
// key, so that a repeated request makes one workspace.
type CreateWorkspace struct {
	AccountID   string
	Owner       string
	Name        string
	Description string
}

// Decide implements Command.
func (c CreateWorkspace) Decide(w *Workspace, _ time.Time) (events.Data, error) {
	if w.Exists {
		return nil, fault.New(fault.Conflict, "the workspace exists")
	}
	return events.WorkspaceCreated{
		AccountID: c.AccountID, Name: c.Name, Description: c.Description, Owner: c.Owner,
	}, nil
}
