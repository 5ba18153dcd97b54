package writelog_test

import (
	"sync/atomic"
	"testing"
	"time"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/fault"
	"netsim/infra/facts"
	"netsim/infra/projector"
	"netsim/internal/testworld"
)

// process is one process of the service.
type process struct {
	*testworld.World
	session *session    // with PostgreSQL; nil for a process that is not disturbed
	dead    atomic.Bool // it was killed
}

// startLeased starts a process that projects the shards leased to it.
func startLeased(t *testing.T, at testworld.Servers, name string, shards int32) *process {
	t.Helper()
	w := at.Connect(t)
	p := &process{World: w, session: newSession()}
	w.DB = p.session.pool(t, w.DB)
	w.Watcher = projector.NewWatcher(w.DB, w.Logger)
	live := w.Projector(w.DB, projector.Live, func(c *projector.Config) {
		c.Watcher = w.Watcher
		c.Leases = &facts.Leases{
			Pool: w.DB, Subscriber: projector.Live, Process: name, Shards: shards, TTL: 900 * time.Millisecond, Log: w.Logger,
		}
	})
	testworld.Running(t, live.Run)
	w.Listen(t)
	w.Commands.Timeout = 10 * time.Second // which alone ends the commands of a process that is killed
	return p
}

// kill ends the process's sessions with PostgreSQL. It gets no others.
func (p *process) kill() {
	p.dead.Store(true)
	p.session.kill()
}

// rebuilt rebuilds the read model, and returns how the result differs.
func rebuilt(t *testing.T, w *testworld.World) []projector.Difference {
	t.Helper()
	p := w.Projector(w.Pool(t, "next"), "next")
	if _, err := p.Rebuild(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	c, err := p.Diff(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c.Differences
}

// run runs a command on a workspace.
func (p *process) run(t *testing.T, id, commandID string, cmd commands.Command[commands.Workspace]) (handle.Result, error) {
	return handle.Command(t.Context(), p.Commands, handle.Target{Stream: id, PartitionKey: id},
		handle.Origin{Actor: "tester", CommandID: commandID, CommandDigest: "body"}, cmd)
}

// create makes a workspace and returns its id.
func (p *process) create(t *testing.T, name string) string {
	t.Helper()
	id := events.NewID(events.WorkspacePrefix)
	testworld.Await(t, func() bool { // on a busy machine leases expire, and a verdict comes late
		_, err := p.run(t, id, "create", commands.CreateWorkspace{AccountID: "acct", Owner: "tester", Name: name})
		if err != nil && !fault.Is(err, fault.Unavailable) {
			t.Fatal(err)
		}
		return err == nil
	})
	return id
}

// load returns the state of a workspace.
func (p *process) load(t *testing.T, id string) (events.Snapshot, *commands.Workspace) {
	t.Helper()
	s, w, err := p.read(t, id)
	if err != nil {
		t.Fatal(err)
	}
	return s, w
}

// read returns the state of a workspace, or an error.
func (p *process) read(t *testing.T, id string) (events.Snapshot, *commands.Workspace, error) {
	s, err := p.WriteLog.Load(t.Context(), id, "")
	if err != nil {
		return s, nil, err
	}
	state, err := commands.ReadState(id, s.State)
	if err != nil {
		return s, nil, err
	}
	return s, state.(*commands.Workspace), nil
}
