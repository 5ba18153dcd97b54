package projector_test

import (
	"context"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"netsim/events"
	"netsim/infra/projector"
	"netsim/internal/teststack"
	"netsim/internal/testworld"
)

// TestTheLevelFollowsTheLog: the live read model of an empty log is made at the level of
// this release. Of a log with facts it is made at the first level, and the level is raised
// once, before a fact that proves a later level is committed.
func TestTheLevelFollowsTheLog(t *testing.T) {
	t.Parallel()
	log := newMemoryLog(1)
	w := &testworld.World{Servers: testworld.Servers{Database: teststack.Postgres(t)}, Logger: testworld.Silent()}
	pool := w.Pool(t, projector.Live)
	var raised []int
	p := w.Projector(pool, projector.Live, func(c *projector.Config) {
		c.Log, c.BatchSize = log, 1
		c.Raise = func(ctx context.Context, tx pgx.Tx, level int) error {
			raised = append(raised, level)
			if log.records == 0 {
				return nil // there are no tables yet
			}
			var facts int64
			err := tx.QueryRow(ctx, `SELECT sum(facts) FROM offsets`).Scan(&facts)
			if facts > 1 {
				t.Errorf("level %d is raised after %d facts, want before the second is committed", level, facts)
			}
			return err
		}
	})
	create := func(when string, want ...int) {
		t.Helper()
		raised = nil
		if err := p.Create(t.Context()); err != nil || !slices.Equal(raised, want) {
			t.Errorf("%s: raised %v, %v, want %v", when, raised, err, want)
		}
	}
	create("new", events.Level)
	create("made before")
	checkpoints := &chain{id: events.NewID(events.CheckpointPrefix)}
	checkpoints.key = checkpoints.id
	checkpoints.append(t, log, events.CheckpointPublished{Name: "one"})
	if _, err := pool.Exec(t.Context(), `DROP SCHEMA readmodel CASCADE`); err != nil {
		t.Fatal(err)
	}
	create("after a loss")
	for range 2 {
		checkpoints.append(t, log, events.LogMoved{Reason: "a test"})
	}
	if err := p.CatchUp(t.Context()); err != nil || !slices.Equal(raised, []int{2}) {
		t.Errorf("raised %v, %v, want level 2 once", raised, err)
	}
}
