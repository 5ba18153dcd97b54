package writelog_test

import (
	"testing"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/internal/testworld"
)

// process is one process of the service.
type process struct{ *testworld.World }

// run runs a command on a workspace.
func (p process) run(t *testing.T, id, commandID string, cmd commands.Command[commands.Workspace]) (handle.Result, error) {
	return handle.Command(t.Context(), p.Commands, handle.Target{Stream: id, PartitionKey: id},
		handle.Origin{Actor: "tester", CommandID: commandID, CommandDigest: "body"}, cmd)
}

// create makes a workspace and returns its id.
func (p process) create(t *testing.T, name string) string {
	t.Helper()
	id := events.NewID(events.WorkspacePrefix)
	if _, err := p.run(t, id, "create", commands.CreateWorkspace{AccountID: "acct", Owner: "tester", Name: name}); err != nil {
		t.Fatal(err)
	}
	return id
}

// load returns the state of a workspace.
func (p process) load(t *testing.T, id string) (events.Snapshot, *commands.Workspace) {
	t.Helper()
	s, err := p.WriteLog.Load(t.Context(), id, "")
	if err != nil {
		t.Fatal(err)
	}
	state, err := commands.ReadState(id, s.State)
	if err != nil {
		t.Fatal(err)
	}
	return s, state.(*commands.Workspace)
}
