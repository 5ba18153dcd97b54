package projections

import (
	"time"

	"netsim/commands"
	"netsim/events"
	"netsim/infra/columns"
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

// foldWorkspace applies a change with the Evolve of the write state, so clients read
// the state that commands decide on.
func foldWorkspace(w *Workspace, f *events.Fact) {
	switch d := f.Data.(type) {
	case events.WorkspaceCreated:
		*w = Workspace{
			ID: f.Stream, AccountID: d.AccountID, Name: d.Name, Description: d.Description,
			Owner: d.Owner, State: Live, CreatedAt: f.Time,
		}
	case events.WorkspaceDeletionRequested:
		w.State = Deleting
	case events.WorkspaceDeleted:
		w.State = Deleted
	default:
		s := commands.Workspace{Name: w.Name, Description: w.Description, LegacyProjectID: w.LegacyProjectID, Version: w.Version}
		s.Evolve(f.Event)
		w.change(&s, f.Time)
		return
	}
	w.Version++
	w.ModifiedAt = f.Time
}

// change copies the fields that a change can affect from the write state after the
// change of a live workspace.
func (w *Workspace) change(s *commands.Workspace, at time.Time) {
	w.Name, w.Description, w.LegacyProjectID = s.Name, s.Description, s.LegacyProjectID
	w.Version, w.ModifiedAt = s.Version, at
}

// After returns the row after an event that created or changed the workspace. s is
// the write state after the event, w the row at any time before it.
func (w Workspace) After(e *events.Event, s *commands.Workspace) Workspace {
	if e.Sequence == 1 {
		return begun(foldWorkspace, e)
	}
	w.change(s, e.Time)
	return w
}
