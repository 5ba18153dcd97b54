package projections

import (
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/events"
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
type Workspaces struct{ rows table[Workspace] }

// NewWorkspaces returns the projection.
func NewWorkspaces() *Workspaces {
	return &Workspaces{table[Workspace]{
		name: "workspaces", keys: 1, columns: workspaceColumns,
		keyOf: streamOf(events.WorkspacePrefix), first: begins, born: true,
		key:  func(w *Workspace) string { return w.ID },
		fold: foldWorkspace,
	}}
}

var workspaceColumns = []column[Workspace]{
	{"id", "text", func(w *Workspace) any { return &w.ID }},
	{"account_id", "text", func(w *Workspace) any { return &w.AccountID }},
	{"name", "text", func(w *Workspace) any { return &w.Name }},
	{"description", "text", func(w *Workspace) any { return &w.Description }},
	{"owner", "text", func(w *Workspace) any { return &w.Owner }},
	{"legacy_project_id", "text", func(w *Workspace) any { return &w.LegacyProjectID }},
	{"version", "bigint", func(w *Workspace) any { return &w.Version }},
	{"state", "text", func(w *Workspace) any { return &w.State }},
	{"created_at", "timestamptz", func(w *Workspace) any { return &w.CreatedAt }},
	{"modified_at", "timestamptz", func(w *Workspace) any { return &w.ModifiedAt }},
}

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

// Schema implements Projection.
func (p *Workspaces) Schema() string { return schema("workspaces.sql") }

// Load implements Projection.
func (p *Workspaces) Load(reads *pgx.Batch, facts []events.Fact) { p.rows.load(reads, facts) }

// Apply implements Projection.
func (p *Workspaces) Apply(writes *pgx.Batch, facts []events.Fact) error {
	return p.rows.apply(writes, facts, nil)
}

// Forget implements Projection.
func (p *Workspaces) Forget() { p.rows.forget() }
