// Package testworld gives tests the whole write path on real servers: a log of
// their own, a read model that a projector keeps, commands that wait for their
// verdict, and an object store.
package testworld

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/commands"
	"netsim/events"
	"netsim/infra/journal"
	"netsim/infra/ledger"
	"netsim/infra/objects"
	"netsim/infra/postgres"
	"netsim/infra/projector"
	"netsim/infra/teststack"
	"netsim/projections"
)

// World is one test's service without its APIs and reactions.
type World struct {
	Log      journal.Config // how to reach the topics
	Database string         // URL
	DB       *pgxpool.Pool
	Watcher  *projector.Watcher
	Ledger   *ledger.Ledger
	Commands *commands.Handler
	Objects  *objects.Store
	Logger   *slog.Logger // writes nowhere
}

// Account is the account of everything that tests make.
const Account = "acct_00000000000000000000000001"

// New starts a world that ends with the test.
func New(t testing.TB) *World {
	t.Helper()
	store := teststack.Objects(t)
	w := &World{
		Log: journal.Config{
			Brokers: teststack.Broker(t), Prefix: "t" + strings.ToLower(events.NewID("w")) + ".",
			Partitions: 2, Relaxed: true,
		},
		Database: teststack.Postgres(t),
		Objects: objects.New(objects.Config{
			Endpoint: store.Endpoint, Region: store.Region, Bucket: store.Bucket,
			AccessKey: store.AccessKey, SecretKey: store.SecretKey,
		}),
		Logger: Silent(),
	}
	j, err := journal.Open(t.Context(), w.Log)
	must(t, err)
	t.Cleanup(j.Close)
	must(t, j.Ensure(t.Context()))
	w.DB, err = postgres.Open(t.Context(), w.Database, projector.Live, 12)
	must(t, err)
	t.Cleanup(w.DB.Close)
	must(t, postgres.Migrate(t.Context(), w.DB))
	w.project(t, j)
	partitions, err := ledger.LoadPartitions(t.Context(), w.DB)
	must(t, err)
	w.Ledger = ledger.New(ledger.Config{Pool: w.DB, Journal: j, Watcher: w.Watcher, Partitions: partitions})
	w.Commands = &commands.Handler{Log: w.Ledger, Now: time.Now}
	return w
}

// Silent returns a logger that writes nowhere.
func Silent() *slog.Logger { return slog.New(slog.DiscardHandler) }

func (w *World) project(t testing.TB, j *journal.Kafka) {
	t.Helper()
	var all []projector.Projection
	for _, p := range projections.All() {
		all = append(all, p)
	}
	p := projector.New(projector.Config{
		Pool: w.DB, Log: j, Projections: all, Logger: w.Logger,
		ReadState: func(stream string, stored []byte) (projector.State, error) {
			return commands.ReadState(stream, stored)
		},
	})
	must(t, p.Create(t.Context()))
	Running(t, p.Run)
	w.Watcher = projector.NewWatcher(w.DB, "", w.Logger)
	Running(t, w.Watcher.Run)
}

// Running runs f until the test ends, and fails the test when f does.
func Running(t testing.TB, f func(context.Context) error) {
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

// Do runs a command on a stream of the default workspace.
func Do[S any, P interface {
	*S
	commands.State
}](t testing.TB, w *World, stream string, cmd commands.Command[S]) commands.Result {
	t.Helper()
	return In[S, P](t, w, events.DefaultWorkspace, stream, cmd)
}

// In runs a command on a stream of the workspace.
func In[S any, P interface {
	*S
	commands.State
}](t testing.TB, w *World, workspace, stream string, cmd commands.Command[S]) commands.Result {
	t.Helper()
	r, err := commands.Handle[S, P](t.Context(), w.Commands,
		commands.Target{Stream: stream, PartitionKey: workspace}, commands.Origin{Actor: "tester"}, cmd)
	if err != nil {
		t.Fatalf("%T on %s: %v", cmd, stream, err)
	}
	return r
}

// Simulation reads a simulation.
func (w *World) Simulation(t testing.TB, id string) projections.Simulation {
	t.Helper()
	s, err := projections.FindSimulation(t.Context(), w.DB, id)
	must(t, err)
	return s
}

// Await waits until the condition holds, looking again whenever a moment has
// passed; a test that waits in vain ends with the time of all tests.
func Await(t testing.TB, condition func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		<-tick.C
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
