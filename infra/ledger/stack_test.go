package ledger_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/commands"
	"netsim/events"
	"netsim/infra/journal"
	"netsim/infra/ledger"
	"netsim/infra/postgres"
	"netsim/infra/projector"
	"netsim/infra/teststack"
	"netsim/projections"
)

// place is a log and a database that processes of the service share.
type place struct {
	database string
	log      journal.Config
}

func newPlace(t *testing.T) place {
	t.Helper()
	return place{
		database: teststack.Postgres(t),
		log: journal.Config{
			Brokers: teststack.Broker(t), Prefix: "t" + events.NewID("x") + ".", Partitions: 2, Relaxed: true,
		},
	}
}

// process is what one process of the service has of the write path: nothing of
// it is shared with another process but the log and the database.
type process struct {
	pool    *pgxpool.Pool
	journal *journal.Kafka
	ledger  *ledger.Ledger
	handler *commands.Handler
}

// start starts a process with every role; the first to have the projector's
// lock projects.
func (at place) start(t *testing.T) *process {
	t.Helper()
	ctx := t.Context()
	j, err := journal.Open(ctx, at.log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(j.Close)
	if err := j.Ensure(ctx); err != nil {
		t.Fatal(err)
	}
	pool, err := postgres.Open(ctx, at.database, projector.Live, 8)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	if err := postgres.Migrate(ctx, pool); err != nil {
		t.Fatal(err)
	}
	var all []projector.Projection
	for _, p := range projections.All() {
		all = append(all, p)
	}
	p := projector.New(projector.Config{
		Pool: pool, Log: j, Projections: all, Logger: slog.Default(),
		ReadState: func(stream string, stored []byte) (projector.State, error) {
			return commands.ReadState(stream, stored)
		},
	})
	if err := p.Create(ctx); err != nil {
		t.Fatal(err)
	}
	running(t, p.Run)
	watcher := projector.NewWatcher(pool, "", slog.Default())
	running(t, watcher.Run)
	partitions, err := ledger.LoadPartitions(ctx, pool)
	if err != nil {
		t.Fatal(err)
	}
	l := ledger.New(ledger.Config{Pool: pool, Journal: j, Watcher: watcher, Partitions: partitions})
	return &process{pool, j, l, &commands.Handler{Log: l, Now: time.Now}}
}

// running runs f until the test ends.
func running(t *testing.T, f func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- f(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("ended with %v", err)
		}
	})
}

// run runs a command on a workspace.
func (p *process) run(t *testing.T, id, commandID string, cmd commands.Command[commands.Workspace]) (commands.Result, error) {
	return commands.Handle(t.Context(), p.handler, commands.Target{Stream: id, PartitionKey: id},
		commands.Origin{Actor: "tester", CommandID: commandID, CommandDigest: "body"}, cmd)
}

// create makes a workspace and returns its id.
func (p *process) create(t *testing.T, name string) string {
	t.Helper()
	id := events.NewID(events.WorkspacePrefix)
	if _, err := p.run(t, id, "create", commands.CreateWorkspace{AccountID: "acct", Owner: "tester", Name: name}); err != nil {
		t.Fatal(err)
	}
	return id
}

// load returns where a workspace stands.
func (p *process) load(t *testing.T, id string) (events.Snapshot, *commands.Workspace) {
	t.Helper()
	s, err := p.ledger.Load(t.Context(), id, "")
	if err != nil {
		t.Fatal(err)
	}
	state, err := commands.ReadState(id, s.State)
	if err != nil {
		t.Fatal(err)
	}
	return s, state.(*commands.Workspace)
}
