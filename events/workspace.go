package events

// workspaceEvents lists the events of workspaces.
func workspaceEvents() []entry {
	return []entry{
		of[WorkspaceCreated](),
		of[WorkspaceUpdated](),
		of[WorkspaceLegacyProjectSet](),
		of[WorkspaceDeletionRequested](),
		of[WorkspaceDeleted](),
	}
}

// WorkspaceCreated records that a workspace was created. Source: completions 2.8, 8 row 1.
type WorkspaceCreated struct {
	AccountID   string `json:"accountId"` // "" for a built-in workspace
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Owner       string `json:"owner"` // user id, or "system"
}

// WorkspaceUpdated records that a workspace's name or description changed. It has
// both new values.
type WorkspaceUpdated struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// WorkspaceLegacyProjectSet records that a workspace was bound to a project of the
// older service, which is final.
type WorkspaceLegacyProjectSet struct {
	LegacyProjectID string `json:"legacyProjectId"` // UUID text
}

// WorkspaceDeletionRequested records that a workspace is hidden from its users
// and that its content is being deleted.
type WorkspaceDeletionRequested struct{}

// WorkspaceDeleted records that everything that the workspace owned is deleted.
type WorkspaceDeleted struct {
	Configurations int64 `json:"configurations"` // removed by the cascade
	Simulations    int64 `json:"simulations"`
	Tracesets      int64 `json:"tracesets"`
	MappingFiles   int64 `json:"mappingFiles"`
	Studies        int64 `json:"studies,omitempty"`
}

func (WorkspaceCreated) EventType() string          { return "netsim.workspace.created.v1" }
func (WorkspaceUpdated) EventType() string          { return "netsim.workspace.updated.v1" }
func (WorkspaceLegacyProjectSet) EventType() string { return "netsim.workspace.legacy_project_set.v1" }
func (WorkspaceDeletionRequested) EventType() string {
	return "netsim.workspace.deletion_requested.v1"
}
func (WorkspaceDeleted) EventType() string { return "netsim.workspace.deleted.v1" }
