package projector_test

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

// stack is a log, a read model and what runs between them.
type stack struct {
	journal  *journal.Kafka
	pool     *pgxpool.Pool
	handler  *commands.Handler
	ledger   *ledger.Ledger
	watcher  *projector.Watcher
	database string
}

// newStack starts a projector on an empty log of its own.
func newStack(t *testing.T) *stack {
	t.Helper()
	s := newStackWithoutProjector(t)
	running(t, s.projector(projector.Live).Run)
	s.listen(t)
	return s
}

// newStackWithoutProjector makes everything that a projector needs.
func newStackWithoutProjector(t *testing.T) *stack {
	t.Helper()
	ctx := t.Context()
	s := &stack{database: teststack.Postgres(t)}
	s.journal = openJournal(t, journal.Config{
		Brokers: teststack.Broker(t), Prefix: "t" + events.NewID("x") + ".", Partitions: 2, Relaxed: true,
	})
	s.pool = openPool(t, s.database, projector.Live)
	if err := postgres.Migrate(ctx, s.pool); err != nil {
		t.Fatal(err)
	}
	if err := s.projector(projector.Live).Create(ctx); err != nil {
		t.Fatal(err)
	}
	return s
}

// listen makes the way in for commands, once a projector runs.
func (s *stack) listen(t *testing.T) {
	t.Helper()
	s.watcher = projector.NewWatcher(s.pool, "", slog.Default())
	running(t, s.watcher.Run)
	partitions, err := ledger.LoadPartitions(t.Context(), s.pool)
	if err != nil {
		t.Fatal(err)
	}
	s.ledger = ledger.New(ledger.Config{Pool: s.pool, Journal: s.journal, Watcher: s.watcher, Partitions: partitions})
	s.handler = &commands.Handler{Log: s.ledger, Now: time.Now}
}

func (s *stack) projector(schema string) *projector.Projector {
	return projector.New(s.config(schema))
}

func (s *stack) config(schema string) projector.Config {
	var all []projector.Projection
	for _, p := range projections.All() {
		all = append(all, p)
	}
	return projector.Config{
		Pool: s.pool, Log: s.journal, Schema: schema, Projections: all, Logger: slog.Default(),
		ReadState: func(stream string, stored []byte) (projector.State, error) {
			return commands.ReadState(stream, stored)
		},
	}
}

func openJournal(t *testing.T, c journal.Config) *journal.Kafka {
	t.Helper()
	j, err := journal.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(j.Close)
	if err := j.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	return j
}

func openPool(t *testing.T, url, schema string) *pgxpool.Pool {
	t.Helper()
	pool, err := postgres.Open(t.Context(), url, schema, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
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

// createWorkspace runs the command and returns the workspace's id.
func (s *stack) createWorkspace(ctx context.Context, name string) (string, error) {
	id := events.NewID(events.WorkspacePrefix)
	_, err := commands.Handle(ctx, s.handler,
		commands.Target{Stream: id, PartitionKey: id, Fresh: true}, commands.Origin{Actor: "tester"},
		commands.CreateWorkspace{AccountID: "acct", Owner: "tester", Name: name})
	return id, err
}
