package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// ErrYielded ends the work on a run whose worker is to have another run first. The run
// continues when it is its turn. It is not a failed attempt.
var ErrYielded = errors.New("the run yields its worker")

// runKey is the key of what was started in the context of a run.
type runKey struct{}

// started is a run's job.
type started struct {
	id       int64
	recorded <-chan struct{} // closed when the start is recorded
}

// Yield reports whether the run that has this context is to leave its worker: because
// runs wait that go before it, more than there are free workers and runs that leave already,
// or because the caller says so. These are runs of other accounts and, before one of a batch,
// the account's own that are of none. The run's account is then charged for the time that the
// run had the worker, a millisecond as a cost of 1, and at least as much that one of the others
// is next. If it is true, Work must return ErrYielded soon.
func (j *Jobs) Yield(ctx context.Context, wanted bool) (yields bool, err error) {
	run, ok := ctx.Value(runKey{}).(started)
	if !ok {
		return false, nil
	}
	<-run.recorded
	err = j.choosing(ctx, false, nil, func(tx pgx.Tx, accounts []string, limits []*int64) error {
		var marked bool
		var before *int64 // when the first of the others begins, in virtual time
		if err := tx.QueryRow(ctx, toYield, j.fairKinds(), accounts, limits, run.id, j.short.queue, j.short.otherwise, wanted).Scan(&marked, &yields, &before); err != nil {
			return err
		}
		if marked || !yields {
			yields = yields || marked
			return nil
		}
		_, err := tx.Exec(ctx, markYield, run.id, before, turns)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("ask whether a run yields: %w", err)
	}
	return yields, nil
}

// toYield is the SQL that says whether a run has yielded already, whether it is to yield, and
// when the first run that goes before it begins. Its parameters are those of nextRuns, where
// the run is left out, and whether it yields anyway.
const toYield = nextRuns + `, mine AS (
	SELECT queue, coalesce(metadata->>'account', '') AS account, metadata ? 'batch' AS batch, metadata ? 'yielded' AS marked
	FROM jobs.river_job WHERE id = $4
), others AS (
	SELECT n.begins FROM next n JOIN mine m USING (queue) WHERE n.account <> m.account OR m.batch AND NOT n.batch
), taken AS (
	SELECT count(*) + 1 AS workers, count(*) FILTER (WHERE r.metadata ? 'yielded') AS leaving
	FROM runs r JOIN mine m USING (queue) WHERE r.state = 'running'
)
SELECT m.marked, $7 OR (SELECT count(*) FROM others) > greatest(coalesce(k.workers, 0) - t.workers, 0) + t.leaving, (SELECT min(begins) FROM others)::bigint
FROM mine m CROSS JOIN taken t LEFT JOIN staff k USING (queue)`

// markYield is the SQL that marks a run that yields, and charges its account. Its parameters are
// the run, when the first of the other runs begins, and turns.
const markYield = `
WITH mine AS (
	UPDATE jobs.river_job SET metadata = metadata || '{"yielded": true}', priority = $3
	WHERE id = $1 AND state = 'running'
	RETURNING queue, coalesce(metadata->>'account', '') AS account, greatest(extract(epoch FROM now() - attempted_at) * 1000, 0)::bigint AS had
)
INSERT INTO jobs.run_shares AS s (queue, account, began, ended)
SELECT queue, account, 0, greatest(had, $2::bigint + 1) FROM mine
ON CONFLICT (queue, account) DO UPDATE SET ended = greatest(s.ended + (SELECT had FROM mine), $2::bigint + 1)`

// attendance is how long the workers of a process count after a reconciliation.
const attendance = 15 * time.Second

// attend records how many workers this process has for runs.
func (j *Jobs) attend(ctx context.Context) error {
	var queues []string
	var workers []int64
	for name, n := range j.config.Queues {
		for _, k := range j.kinds {
			if k.share != nil && (k.queue == name || k.short == name) {
				queues, workers = append(queues, name), append(workers, int64(n))
				break
			}
		}
	}
	_, err := j.pool.Exec(ctx, `
		WITH gone AS (DELETE FROM jobs.run_workers WHERE until NOT BETWEEN now() AND now() + interval '1 day' AND process <> $1)
		INSERT INTO jobs.run_workers (process, queue, workers, until)
		SELECT $1, queue, workers, now() + make_interval(secs => $4) FROM unnest($2::text[], $3::bigint[]) AS own (queue, workers)
		ON CONFLICT (process, queue) DO UPDATE SET workers = excluded.workers, until = excluded.until`,
		j.client.ID(), queues, workers, (attendance + 3*j.config.Reconcile).Seconds())
	if err != nil {
		return fmt.Errorf("record the workers of this process: %w", err)
	}
	return nil
}

// leave records that this process has no workers any more.
func (j *Jobs) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pingTimeout)
	defer cancel()
	if _, err := j.pool.Exec(ctx, `DELETE FROM jobs.run_workers WHERE process = $1`, j.client.ID()); err != nil {
		j.config.Log.WarnContext(ctx, "the workers of this process were not signed off", "error", err)
	}
}
