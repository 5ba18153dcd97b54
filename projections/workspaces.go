package projections

import (
	"time"

	"netsim/events"
	"netsim/internal/columns"
)

// Workspace is a row of the workspaces.
type Workspace struct {
	ID              string
	AccountID       string // "" for a built-in one
	Name            string
	Description     string
	Owner           string
	LegacyProjectID string
	Version         int64
	State           string // Live, Deleting or Deleted
	CreatedAt       time.Time
	ModifiedAt      time.Time
}

// The states of a workspace.
const (
	Live     = "live"
	Deleting = "deleting"
	Deleted  = "deleted"
)

// Workspaces is the projection of the workspaces.
type Workspaces struct{ table[Workspace] }

// NewWorkspaces returns the projection.
func NewWorkspaces() *Workspaces {
	return &Workspaces{table[Workspace]{
		name: "workspaces", file: "workspaces.sql", columns: workspaceColumns,
		keyOf: streamOf(events.WorkspacePrefix), first: begins, insertsNew: true,
		fold: foldWorkspace,
	}}
}

var workspaceColumns = columns.Of[Workspace]()

func foldWorkspace(w *Workspace, f *events.Fact) {
	switch d := f.Data.(type) {
	case events.WorkspaceCreated:
		*w = Workspace{
			ID: f.Stream, AccountID: d.AccountID, Name: d.Name, Description: d.Description,
			Owner: d.Owner, State: Live, CreatedAt: f.Time,
		}
	case events.WorkspaceUpdated:
		w.Name, w.Description = d.Name, d.Description
	case events.WorkspaceLegacyProjectSet:
		w.LegacyProjectID = d.LegacyProjectID
	case events.WorkspaceDeletionRequested:
		w.State = Deleting
	case events.WorkspaceDeleted:
		w.State = Deleted
	}
	w.Version++
	w.ModifiedAt = f.Time
}
