package projector_test

import (
	"context"
	"testing"

	"netsim/commands"
	"netsim/events"
	"netsim/infra/projector"
	"netsim/internal/testworld"
)

// stack is a process of the service with what these tests do to it.
type stack struct{ *testworld.World }

// newStack starts a projector on an empty log of its own.
func newStack(t *testing.T) stack {
	t.Helper()
	return stack{testworld.NewPlace(t).Start(t)}
}

// rebuilt projects the whole log into another schema and returns in what it
// differs from the live one.
func (s stack) rebuilt(t *testing.T, schema string) []projector.Difference {
	t.Helper()
	if err := s.Projector(s.Pool(t, schema), schema).Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	differences, err := projector.Diff(t.Context(), s.DB, projector.Live, schema)
	if err != nil {
		t.Fatal(err)
	}
	return differences
}

// createWorkspace runs the command and returns the workspace's id.
func (s stack) createWorkspace(ctx context.Context, name string) (string, error) {
	id := events.NewID(events.WorkspacePrefix)
	_, err := commands.Handle(ctx, s.Commands,
		commands.Target{Stream: id, PartitionKey: id, Fresh: true}, commands.Origin{Actor: "tester"},
		commands.CreateWorkspace{AccountID: "acct", Owner: "tester", Name: name})
	return id, err
}
