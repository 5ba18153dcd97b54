package projector_test

import (
	"context"
	"testing"
	"time"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/infra/projector"
	"netsim/internal/testworld"
)

// stack is a process of the service, with the helpers of these tests.
type stack struct{ *testworld.World }

// newStack starts a projector on an empty log of its own.
func newStack(t *testing.T) stack {
	t.Helper()
	s := stack{testworld.NewServers(t).Start(t)}
	s.Commands.Timeout = patience
	return s
}

// patience is how long a command may take. On a busy machine that is longer than in the
// service: a test that renews leases, or switches, waits for them.
const patience = 2 * time.Minute

// Listen is the world's, with patience.
func (s stack) Listen(t *testing.T) {
	t.Helper()
	s.World.Listen(t)
	s.Commands.Timeout = patience
}

// rebuild projects the whole log into another schema.
func (s stack) rebuild(t *testing.T, schema string) *projector.Projector {
	t.Helper()
	p := s.Projector(s.Pool(t, schema), schema)
	if _, err := p.Rebuild(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	return p
}

// rebuilt rebuilds, and returns how the rebuilt read model differs from the live one.
func (s stack) rebuilt(t *testing.T, schema string) []projector.Difference {
	t.Helper()
	c, err := s.rebuild(t, schema).Diff(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c.Differences
}

// promote promotes and logs the steps.
func promote(t *testing.T, p *projector.Projector) {
	t.Helper()
	err := p.Promote(t.Context(), func(step projector.Step, detail string) { t.Log(p.Schema, step, detail) })
	if err != nil {
		t.Fatal(err)
	}
}

// createWorkspace runs the command and returns the workspace's id.
func (s stack) createWorkspace(ctx context.Context, name string) (string, error) {
	id := events.NewID(events.WorkspacePrefix)
	_, err := handle.Command(ctx, s.Commands,
		handle.Target{Stream: id, PartitionKey: id, Fresh: true}, handle.Origin{Actor: "tester"},
		commands.CreateWorkspace{AccountID: "acct", Owner: "tester", Name: name})
	return id, err
}
