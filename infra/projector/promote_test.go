package projector_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/infra/projector"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// A transaction that reads several times from one snapshot reads one read
// model: the switch waits for it.
func TestASnapshotReadsOneReadModel(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	if _, err := s.createWorkspace(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	s.rebuild(t, "next")
	tx, err := s.DB.BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.WithoutCancel(t.Context()))
	if _, err := tx.Exec(t.Context(), `SELECT FROM workspaces`); err != nil {
		t.Fatal(err)
	}
	before := tableOf(t, s.DB)
	ended, waiting := make(chan error, 1), make(chan string, 100)
	go func() {
		ended <- s.Projector(s.Pool(t, "next"), "next").Promote(t.Context(), func(step projector.Step, detail string) {
			if step == projector.Waiting && strings.Contains(detail, "netsim") {
				waiting <- detail
			}
		})
	}()
	select {
	case detail := <-waiting:
		t.Log(detail)
	case err := <-ended:
		t.Fatalf("the promotion did not wait for the reader: %v", err)
	}
	for range 50 {
		if _, err := s.createWorkspace(t.Context(), "while it waits"); err != nil {
			t.Errorf("a write while the promotion waits: %v", err)
		}
	}
	if after := tableOf(t, tx); after != before {
		t.Error("the transaction reads another read model now")
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := testwait.Receive(t, ended, "it to end"); err != nil {
		t.Fatal(err)
	}
	if tableOf(t, s.DB) == before {
		t.Error("the read model is still the old one")
	}
}

func tableOf(t *testing.T, db interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}) (oid uint32) {
	t.Helper()
	if err := db.QueryRow(t.Context(), `SELECT tableoid FROM streams LIMIT 1`).Scan(&oid); err != nil {
		t.Fatal(err)
	}
	return oid
}

// gated is a log whose new records are not read while the gate is closed.
type gated struct {
	projector.Log
	closed atomic.Bool
}

func (g *gated) Follow(ctx context.Context, topic string, partition int32, from int64, maxBytes int, wait time.Duration) ([]events.Record, int64, error) {
	records, end, err := g.Log.Follow(ctx, topic, partition, from, maxBytes, min(wait, 50*time.Millisecond))
	if g.closed.Load() {
		return nil, end, err
	}
	return records, end, err
}

// Promote does not switch to a read model that lacks the last records, and does not
// keep writes waiting for it.
func TestTheSwitchWaitsForTheLastRecords(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.rebuild(t, "next")
	log := &gated{Log: s.EventLog}
	next := s.Projector(s.Pool(t, "next"), "next", func(c *projector.Config) { c.Log = log })
	var last string
	waited := false
	err := next.Promote(t.Context(), func(step projector.Step, detail string) {
		switch {
		case step == projector.Following && last == "":
			log.closed.Store(true)
			var err error
			if last, err = s.createWorkspace(t.Context(), "last"); err != nil {
				t.Error(err)
			}
		case step == projector.Waiting && strings.Contains(detail, "is behind"):
			if _, err := s.createWorkspace(t.Context(), "between two attempts"); err != nil {
				t.Error(err)
			}
			waited = true
			log.closed.Store(false)
		}
	})
	if err != nil || !waited {
		t.Errorf("the promotion did not wait: %t, %v", waited, err)
	}
	if name := s.name(t, last); name != "last" {
		t.Errorf("the last workspace is called %q", name)
	}
}

// The projector of the last release has a batch ready while the switch goes
// on. It does not write it into the read model of the next release, which is at
// the same offsets.
func TestABatchThatWaitedIsNotAppliedToAnotherReadModel(t *testing.T) {
	t.Parallel()
	s := stack{testworld.NewServers(t).Connect(t)}
	ended := make(chan error, 1)
	go func() { ended <- s.Projector(s.DB, projector.Live).Run(t.Context()) }()
	s.Listen(t)
	if _, err := s.createWorkspace(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.next(t, "next").Rebuild(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	tx, err := s.DB.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.WithoutCancel(t.Context()))
	if _, err := tx.Exec(t.Context(), `LOCK TABLE readmodel.offsets IN EXCLUSIVE MODE`); err != nil {
		t.Fatal(err)
	}
	id := events.NewID(events.WorkspacePrefix)
	f := events.Frame{
		ID: events.NewID("event"), Type: "netsim.workspace.created.v1", Stream: id, PartitionKey: id,
		Sequence: 1, Time: time.Now(), DataVersion: 1,
	}
	m, _ := f.Message([]byte(`{"accountId":"acct","name":"two"}`))
	wait, err := s.WriteLog.Append(t.Context(), events.Workspaces, id, m)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	testworld.Await(t, func() (blocked bool) {
		err := s.DB.QueryRow(t.Context(), `
			SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'readmodel.offsets'::regclass AND NOT granted)`).Scan(&blocked)
		return err == nil && blocked
	})
	if _, err := tx.Exec(t.Context(), `
		ALTER SCHEMA readmodel RENAME TO readmodel_before; ALTER SCHEMA next RENAME TO readmodel`); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if !errors.Is(err, projector.ErrOtherSchema) {
			t.Errorf("the projector of the last release ended with %v, want ErrOtherSchema", err)
		}
	case <-time.After(testwait.Limit(t)):
		t.Fatal("the projector of the last release goes on")
	}
	var there bool
	if err := s.DB.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM workspaces WHERE id = $1)`, id).Scan(&there); err != nil || there {
		t.Errorf("the last release wrote into the read model of the next: %t, %v", there, err)
	}
}

// Two read models are compared while both move.
func TestDiffUnderLoad(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	first, err := s.createWorkspace(t.Context(), "first")
	if err != nil {
		t.Fatal(err)
	}
	testworld.Running(t, func(ctx context.Context) error {
		_, err := s.Projector(s.Pool(t, "next"), "next").Rebuild(ctx, true)
		return err
	})
	testworld.Running(t, func(ctx context.Context) error {
		for i := 0; ctx.Err() == nil; i++ {
			if _, err := s.createWorkspace(ctx, fmt.Sprint("workspace ", i)); err != nil && ctx.Err() == nil {
				return err
			}
		}
		return nil
	})
	next := func() projector.Comparison {
		t.Helper()
		var c projector.Comparison
		testworld.Await(t, func() bool {
			if c, err = s.Projector(s.Pool(t, "next"), "next").Diff(t.Context()); err != nil {
				t.Log(err) // the read model is not there yet
			}
			return err == nil
		})
		return c
	}
	before := next()
	if len(before.Differences) > 0 {
		t.Errorf("at %s they differ: %+v", before.Position, before.Differences)
	}
	_, err = s.DB.Exec(t.Context(), `
		UPDATE next.workspaces SET name = 'another' WHERE id = $1`, first)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = s.DB.Exec(t.Context(), `CREATE TABLE next.more ()`); err != nil {
		t.Fatal(err)
	}
	after := next()
	if after.Position.Records() <= before.Position.Records() {
		t.Errorf("compared at %s and then at %s", before.Position, after.Position)
	}
	if len(after.Differences) != 2 || after.Differences[0].Table != "more" {
		t.Fatalf("found %+v, want the table and the row", after.Differences)
	}
	if d := after.Differences[1]; d.Table != "workspaces" || d.OnlyA != 1 || d.OnlyB != 1 || !strings.Contains(d.Row, first) {
		t.Errorf("found %+v, want the row of %s in workspaces", d, first)
	}
}

// hooked is a log that calls described before each description.
type hooked struct {
	projector.Log
	described func(context.Context) error
}

func (h hooked) Describe(ctx context.Context) (eventlog.Description, error) {
	if err := h.described(ctx); err != nil {
		return eventlog.Description{}, err
	}
	return h.Log.Describe(ctx)
}

// The process that followed the log may have sent a batch when it released the lock. The
// batch is committed after the live read model's snapshot was taken, up to three times, and
// the two are compared at one position all the same.
func TestDiffWithABatchThatIsCommittedLate(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.rebuild(t, "next")
	former := s.Projector(s.Pool(t, "next"), "next")
	late := 0
	c, err := s.Projector(s.Pool(t, "next"), "next", func(c *projector.Config) {
		c.Log = hooked{s.EventLog, func(ctx context.Context) error {
			if late == 3 {
				return nil
			}
			late++
			if _, err := s.createWorkspace(ctx, fmt.Sprint("late ", late)); err != nil {
				return err
			}
			return former.CatchUp(ctx) // without the lock
		}}
	}).Diff(t.Context())
	if err != nil || len(c.Differences) > 0 {
		t.Fatalf("found %+v, %v", c.Differences, err)
	}
	if live, err := projector.ReadLive(t.Context(), s.DB); err != nil || late == 0 || c.Position.Records() != live.Records() {
		t.Errorf("compared at %s after %d late batches, the live one is at %s, %v", c.Position, late, live, err)
	}
}

func TestWhatIsNotDroppedOrPromoted(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	testworld.Running(t, s.rebuild(t, "followed").Run)
	at := func(schema string) *projector.Projector { return s.Projector(s.Pool(t, schema), schema) }
	report := func(projector.Step, string) {}
	testworld.Await(t, func() (held bool) {
		err := s.DB.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted
			AND objid = (hashtext('project followed')::bigint & 4294967295)::oid)`).Scan(&held)
		return err == nil && held
	})
	s.rebuild(t, "incomplete")
	if _, err := s.DB.Exec(t.Context(), `DROP INDEX incomplete.parked_stream; CREATE SCHEMA other`); err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		err  error
		want string
	}{
		"drop the live one":            {at(projector.Live).Drop(t.Context()), "is the live read model"},
		"drop what others use":         {at("netsim").Drop(t.Context()), "no read model netsim"},
		"drop what is being rebuilt":   {at("followed").Drop(t.Context()), "another process projects into it"},
		"promote the live one":         {at(projector.Live).Promote(t.Context(), report), "is the live read model"},
		"promote what is not there":    {at("nothing").Promote(t.Context(), report), "no read model nothing"},
		"promote what is not complete": {at("incomplete").Promote(t.Context(), report), "netsim readmodel rebuild incomplete"},
		"promote what is another form": {at("other").Promote(t.Context(), report), "no known form"},
		"compare what is not there":    {second(at("nothing").Diff(t.Context())), "no read model nothing"},
		"rebuild the live one":         {second(at(projector.Live).Rebuild(t.Context(), false)), "is the live read model"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", what, c.err, c.want)
		}
	}
	promote(t, s.rebuild(t, "incomplete")) // now it is complete
}

func second[T any](_ T, err error) error { return err }
