package commands_test

import (
	"testing"

	"netsim/commands"
	"netsim/events"
	"netsim/fault"
)

// Source: completions 2.8.

func workspaceCreated() []events.Data {
	return given(events.WorkspaceCreated{AccountID: "acct", Name: "lab", Description: "first", Owner: "ann"})
}

func workspaceDeleting() []events.Data {
	return and(workspaceCreated(), events.WorkspaceDeletionRequested{})
}

func workspaceDeleted() []events.Data {
	return and(workspaceDeleting(), events.WorkspaceDeleted{Simulations: 2})
}

func TestCreateWorkspace(t *testing.T) {
	t.Parallel()
	create := commands.CreateWorkspace{AccountID: "acct", Name: "lab", Description: "first", Owner: "ann"}
	check(t, []example[commands.Workspace]{
		{"a new one", nil, create, event(workspaceCreated()[0])},
		{"one that exists", workspaceCreated(), create, refusal(fault.Conflict)},
		{"one that is deleted", workspaceDeleted(), create, refusal(fault.Conflict)},
	})
}

func TestUpdateWorkspace(t *testing.T) {
	t.Parallel()
	text := func(s string) *string { return &s }
	update := func(name string, description *string, tags ...string) commands.UpdateWorkspace {
		return commands.UpdateWorkspace{
			ID: "workspace_1", Name: name, Description: description,
			Match: commands.Match{Given: tags != nil, Tags: tags},
		}
	}
	renamed := event(events.WorkspaceUpdated{Name: "hall", Description: "first"})
	changed := and(workspaceCreated(), events.WorkspaceUpdated{Name: "hall", Description: "first"})
	check(t, []example[commands.Workspace]{
		{"another name keeps the description", workspaceCreated(), update("hall", nil), renamed},
		{"another description", workspaceCreated(), update("lab", text("second")), event(events.WorkspaceUpdated{Name: "lab", Description: "second"})},
		{"an empty description", workspaceCreated(), update("lab", text("")), event(events.WorkspaceUpdated{Name: "lab"})},
		{"the same name", workspaceCreated(), update("lab", nil), nothing()},
		{"the same name and description", workspaceCreated(), update("lab", text("first")), nothing()},
		{"the current version", workspaceCreated(), update("hall", nil, "1"), renamed},
		{"one of several versions", workspaceCreated(), update("hall", nil, "7", "1"), renamed},
		{"any version", workspaceCreated(), commands.UpdateWorkspace{Name: "hall", Match: commands.Match{Given: true, Any: true}}, renamed},
		{"an old version", changed, update("room", nil, "1"), refusal(fault.PreconditionFailed)},
		{"an old version, changing nothing", changed, update("hall", nil, "1"), refusal(fault.PreconditionFailed)},
		{"a condition that no tag can meet", workspaceCreated(), commands.UpdateWorkspace{Name: "hall", Match: commands.Match{Given: true}}, refusal(fault.PreconditionFailed)},
		{"every change counts", and(changed, events.WorkspaceLegacyProjectSet{LegacyProjectID: "p"}), update("room", nil, "3"), event(events.WorkspaceUpdated{Name: "room", Description: "first"})},
		{"one that does not exist", nil, update("hall", nil), refusal(fault.NotFound)},
		{"one that does not exist, at a version", nil, update("hall", nil, "1"), refusal(fault.NotFound)},
		{"one that is being deleted", workspaceDeleting(), update("hall", nil), refusal(fault.NotFound)},
		{"one that is deleted", workspaceDeleted(), update("hall", nil), refusal(fault.NotFound)},
	})
}

func TestSetLegacyProject(t *testing.T) {
	t.Parallel()
	set := commands.SetLegacyProject{ID: "workspace_1", LegacyProjectID: "one"}
	tied := func(project string) []events.Data {
		return and(workspaceCreated(), events.WorkspaceLegacyProjectSet{LegacyProjectID: project})
	}
	check(t, []example[commands.Workspace]{
		{"for the first time", workspaceCreated(), set, event(events.WorkspaceLegacyProjectSet{LegacyProjectID: "one"})},
		{"the same again", tied("one"), set, nothing()},
		{"another one", tied("two"), set, refusal(fault.Conflict)},
		{"of one that does not exist", nil, set, refusal(fault.NotFound)},
		{"of one that is being deleted", workspaceDeleting(), set, refusal(fault.NotFound)},
		{"of one that is deleted", workspaceDeleted(), set, refusal(fault.NotFound)},
	})
}

func TestDeleteWorkspace(t *testing.T) {
	t.Parallel()
	remove := commands.DeleteWorkspace{ID: "workspace_1"}
	check(t, []example[commands.Workspace]{
		{"an existing one", workspaceCreated(), remove, event(events.WorkspaceDeletionRequested{})},
		{"again during the deletion", workspaceDeleting(), remove, nothing()},
		{"again afterwards", workspaceDeleted(), remove, refusal(fault.NotFound)},
		{"one that does not exist", nil, remove, refusal(fault.NotFound)},
	})
}

func TestFinishWorkspaceDeletion(t *testing.T) {
	t.Parallel()
	removed := events.WorkspaceDeleted{Configurations: 1, Simulations: 2, Tracesets: 3, MappingFiles: 4}
	finish := commands.FinishWorkspaceDeletion{ID: "workspace_1", Removed: removed}
	check(t, []example[commands.Workspace]{
		{"when everything is deleted", workspaceDeleting(), finish, event(removed)},
		{"again", workspaceDeleted(), finish, nothing()},
		{"without a request to delete", workspaceCreated(), finish, nothing()},
		{"of one that does not exist", nil, finish, nothing()},
	})
}
