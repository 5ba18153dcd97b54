// Package testworld runs the complete write path for tests, on real servers: a new log
// and read model, a projector, commands that wait for their verdict, and an object store.
package testworld

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/infra/jobs"
	"netsim/infra/objects"
	"netsim/infra/postgres"
	"netsim/infra/projector"
	"netsim/infra/writelog"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
	"netsim/projections"
)

// Servers are the log and the database that the processes of a test share.
type Servers struct {
	Log      eventlog.Config // how to reach the topics
	Database string          // URL of the database
	Keys     string          // writer keys as in NETSIM_WRITER_KEYS, or ""
}

// NewServers returns new topics and a new database for the test.
func NewServers(t testing.TB) Servers {
	t.Helper()
	return Servers{
		Log: eventlog.Config{
			Brokers: teststack.Broker(t), Prefix: strings.ToLower(events.NewID("w")) + ".",
			Partitions: 2, Relaxed: true,
		},
		Database: Database(t),
	}
}

// Database returns the URL of a new database with all tables, at the first level. It is a
// copy, so no test waits for migrations.
func Database(t testing.TB) string {
	t.Helper()
	return teststack.PostgresLike(t, "world", func(url string) error { return CreateTables(t.Context(), url) })
}

// CreateTables creates the tables of the service, of its read model and of its jobs.
func CreateTables(ctx context.Context, url string) error {
	pool, err := postgres.Open(ctx, url, projector.Live, 2)
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := postgres.Migrate(ctx, pool); err != nil {
		return err
	}
	if err := (&World{Logger: Silent()}).Projector(pool, projector.Live).Create(ctx); err != nil {
		return err
	}
	queue, err := jobs.Open(ctx, jobs.Config{URL: url, Log: Silent(), Now: time.Now})
	if err == nil {
		queue.Close()
	}
	return err
}

// World is one process of the service without its APIs and reactions. Several processes
// share only their servers.
type World struct {
	Servers
	DB       *pgxpool.Pool
	EventLog *eventlog.Kafka
	Watcher  *projector.Watcher // set by Start and Listen, like the next two
	WriteLog *writelog.Log
	Commands *handle.Handler
	Objects  *objects.Store // set by New
	Logger   *slog.Logger   // discards its records
}

// Account is the account of everything that tests create.
const Account = "acct_00000000000000000000000001"

// New starts a process on new servers, with an object store.
func New(t testing.TB) *World {
	t.Helper()
	w := NewServers(t).Start(t)
	store := teststack.Objects(t)
	w.Objects = objects.New(objects.Config{
		Endpoint: store.Endpoint, Region: store.Region, Bucket: store.Bucket,
		AccessKey: store.AccessKey, SecretKey: store.SecretKey,
	})
	return w
}

// Start starts a process that handles commands. It also projects while no other process
// on the servers does.
func (at Servers) Start(t testing.TB) *World {
	t.Helper()
	w := at.Connect(t)
	w.Watcher = projector.NewWatcher(w.DB, w.Logger)
	Running(t, w.Projector(w.DB, projector.Live, func(c *projector.Config) { c.Watcher = w.Watcher }).Run)
	w.Listen(t)
	return w
}

// Connect connects a process to the servers and creates missing topics and tables. It
// starts nothing.
func (at Servers) Connect(t testing.TB) *World {
	t.Helper()
	w := &World{Servers: at, Logger: Silent()}
	var err error
	w.EventLog, err = eventlog.Open(t.Context(), at.Log)
	must(t, err)
	t.Cleanup(w.EventLog.Close)
	Await(t, func() bool { // a busy broker may be unavailable for a moment, for which a start waits
		err = w.EventLog.Ensure(t.Context())
		unavailable, _ := eventlog.IsUnavailable(err)
		return !unavailable
	})
	must(t, err)
	w.DB = at.Pool(t, projector.Live)
	must(t, postgres.Migrate(t.Context(), w.DB))
	must(t, w.Projector(w.DB, projector.Live).Create(t.Context()))
	return w
}

// Pool returns a connection pool for the read model in the schema.
func (at Servers) Pool(t testing.TB, schema string) *pgxpool.Pool {
	t.Helper()
	pool, err := postgres.Open(t.Context(), at.Database, schema, 8)
	must(t, err)
	t.Cleanup(pool.Close)
	return pool
}

// Listen makes the process ready for commands. A projector must run.
func (w *World) Listen(t testing.TB) {
	t.Helper()
	if w.Watcher == nil {
		w.Watcher = projector.NewWatcher(w.DB, w.Logger)
	}
	Running(t, w.Watcher.Run)
	partitions, err := writelog.LoadPartitions(t.Context(), w.DB)
	must(t, err)
	w.WriteLog = writelog.New(writelog.Config{Pool: w.DB, EventLog: w.EventLog, Watcher: w.Watcher, Partitions: partitions})
	w.Commands = &handle.Handler{Log: w.WriteLog, Now: time.Now, Keys: w.keys(t)}
}

// keys returns the writer keys of the process, or nil.
func (at Servers) keys(t testing.TB) *events.WriterKeys {
	t.Helper()
	if at.Keys == "" {
		return nil
	}
	keys, err := events.ParseWriterKeys(strings.Split(at.Keys, ",")...)
	must(t, err)
	return keys
}

// Projector returns a projector from the log into the schema. The options change its
// settings.
func (w *World) Projector(pool *pgxpool.Pool, schema string, options ...func(*projector.Config)) *projector.Projector {
	c := projector.Config{
		Pool: pool, Log: w.EventLog, Schema: schema, Logger: w.Logger,
		ReadState: func(stream string, stored []byte) (projector.State, error) {
			return commands.ReadState(stream, stored)
		},
	}
	for _, p := range projections.All() {
		c.Projections = append(c.Projections, p)
	}
	for _, option := range options {
		option(&c)
	}
	return projector.New(c)
}

// Silent returns a logger that discards its records.
func Silent() *slog.Logger { return slog.New(slog.DiscardHandler) }

// Running runs f until the test ends, and fails the test if f returns an error.
func Running(t testing.TB, f func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- f(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := testwait.Receive(t, done, "the background function to end"); err != nil {
			t.Errorf("the background function ended with %v", err)
		}
	})
}

// Do runs a command on a stream of the default workspace.
func Do[S any, P interface {
	*S
	commands.State
}](t testing.TB, w *World, stream string, cmd commands.Command[S]) handle.Result {
	t.Helper()
	return In[S, P](t, w, events.DefaultWorkspace, stream, cmd)
}

// In runs a command on a stream of the workspace.
func In[S any, P interface {
	*S
	commands.State
}](t testing.TB, w *World, workspace, stream string, cmd commands.Command[S]) handle.Result {
	t.Helper()
	r, err := handle.Command[S, P](t.Context(), w.Commands,
		handle.Target{Stream: stream, PartitionKey: workspace}, handle.Origin{Actor: "tester"}, cmd)
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

// Await polls until the condition holds. It fails the test at the limit of testwait.
func Await(t testing.TB, condition func() bool) {
	t.Helper()
	began, tick := time.Now(), time.NewTicker(5*time.Millisecond)
	defer tick.Stop()
	deadline := time.NewTimer(testwait.Limit(t))
	defer deadline.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("the condition is still false after %s", time.Since(began).Round(time.Second))
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
