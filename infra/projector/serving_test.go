package projector_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/infra/columns"
	"netsim/infra/facts"
	"netsim/infra/postgres"
	"netsim/infra/projector"
	"netsim/infra/writelog"
	"netsim/internal/testworld"
)

// release is a process of a release whose read model differs from that of others.
type release struct {
	*testworld.World
	form    string // "" for that of this release
	pool    *pgxpool.Pool
	watcher *projector.Watcher
	log     *writelog.Log
	handler *handle.Handler
}

// column is a projection whose table another release does not have.
type column struct{ form string }

func (c column) Schema() string                           { return "CREATE TABLE " + c.form + " (n int);" }
func (column) Load(*pgx.Batch, []events.Fact)             {}
func (column) Apply(*columns.Writes, []events.Fact) error { return nil }
func (column) Forget()                                    {}

func newRelease(t *testing.T, w *testworld.World, form string) *release {
	t.Helper()
	r := &release{World: w, form: form}
	own := projector.Serving(r.model("", nil).Fingerprint())
	var err error
	if r.pool, err = postgres.Open(t.Context(), w.Database, projector.Live, 16, own); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.pool.Close)
	r.watcher = projector.NewWatcher(r.pool, w.Logger)
	return r
}

// model returns a projector of the release.
func (r *release) model(schema string, pool *pgxpool.Pool, options ...func(*projector.Config)) *projector.Projector {
	return r.Projector(pool, schema, append(options, func(c *projector.Config) {
		if r.form != "" {
			c.Projections = append(c.Projections, column{r.form})
		}
	})...)
}

// project runs the projector that the release serves, with leases.
func (r *release) project(ctx context.Context, process string, watcher *projector.Watcher) error {
	name := projector.NameOf(r.model("", nil).Fingerprint())
	return r.model("", r.pool, func(c *projector.Config) {
		c.Watcher, c.Logger = watcher, slog.Default()
		c.Leases = &facts.Leases{Pool: r.pool, Subscriber: name, Process: process, Shards: 2, Log: r.Logger}
	}).Run(ctx)
}

// serve makes the release ready for commands.
func (r *release) serve(t *testing.T) {
	t.Helper()
	testworld.Running(t, r.watcher.Run)
	counts, err := writelog.LoadPartitions(t.Context(), r.pool)
	if err != nil {
		t.Fatal(err)
	}
	r.log = writelog.New(writelog.Config{Pool: r.pool, EventLog: r.EventLog, Watcher: r.watcher, Partitions: counts})
	r.handler = &handle.Handler{Log: r.log, Now: time.Now}
}

func (r *release) create(t *testing.T, name string) string {
	t.Helper()
	id := events.NewID(events.WorkspacePrefix)
	if _, err := handle.Command(t.Context(), r.handler, handle.Target{Stream: id, PartitionKey: id, Fresh: true}, handle.Origin{Actor: "tester"},
		commands.CreateWorkspace{AccountID: "acct", Owner: "tester", Name: name}); err != nil {
		t.Fatal(err)
	}
	return id
}

func (r *release) has(t *testing.T, id string) (there bool) {
	t.Helper()
	if err := r.pool.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM workspaces WHERE id = $1)`, id).Scan(&there); err != nil {
		t.Fatal(err)
	}
	return there
}

// TestTwoReadModelsAreServed: after the promotion of a changed read model, the processes of
// the release whose read model was live go on projecting and showing it. What either release
// acknowledges is in both, or comes to the one that is superseded.
func TestTwoReadModelsAreServed(t *testing.T) {
	t.Parallel()
	w := testworld.NewServers(t).Connect(t)
	old, next := newRelease(t, w, ""), newRelease(t, w, "more")
	testworld.Running(t, func(ctx context.Context) error { return old.project(ctx, "old", old.watcher) })
	old.serve(t)
	before := old.create(t, "before")
	pool := w.Pool(t, "next")
	if _, err := next.model("next", pool).Rebuild(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	promote(t, next.model("next", pool))
	testworld.Running(t, func(ctx context.Context) error { return next.project(ctx, "next", next.watcher) })
	next.serve(t)
	for i := range 3 {
		for _, r := range []*release{old, next} {
			id := r.create(t, "after")
			if !next.has(t, id) {
				t.Errorf("write %d through %q is not in the live read model", i, r.form)
			}
			testworld.Await(t, func() bool { return old.has(t, id) })
		}
	}
	if !old.has(t, before) || !next.has(t, before) {
		t.Error("what was written before is missing")
	}
	if !old.watcher.Superseded() || next.watcher.Superseded() {
		t.Errorf("superseded: %t and %t, want the old one", old.watcher.Superseded(), next.watcher.Superseded())
	}
	var names []string
	if err := w.DB.QueryRow(t.Context(), `SELECT array_agg(DISTINCT subscriber) FROM facts.leases`).Scan(&names); err != nil || len(names) != 2 {
		t.Errorf("the leases are of %v (%v), want those of two read models", names, err)
	}
	name := projector.NameOf(old.model("", nil).Fingerprint())
	if err := w.Projector(w.Pool(t, name), name).Drop(t.Context()); err == nil {
		t.Errorf("%s was dropped while it is served", name)
	}
	// The way back, with the tools of the old release.
	back := old.model(name, w.Pool(t, name), func(c *projector.Config) {
		c.Leases = &facts.Leases{Pool: old.pool, Subscriber: name, Process: "tool", Shards: 2, Log: w.Logger}
	})
	promote(t, back)
	for _, r := range []*release{old, next} {
		id := r.create(t, "back")
		if !old.has(t, id) {
			t.Errorf("a write through %q is not in the read model that is live again", r.form)
		}
		testworld.Await(t, func() bool { return next.has(t, id) })
	}
	testworld.Await(t, func() bool { return next.watcher.Superseded() && !old.watcher.Superseded() })
}
