package jobs

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

//go:embed fair.sql
var sharesSchema string

// Fairness. Jobs of fair kinds, called runs in this file, are taken fairly by
// account (ADR 19, ADR 65): start-time fair queuing, with a run's estimated cost as its length.
// Each account has a virtual time up to which it was served. When a run starts, it
// advances this time by the run's cost, from at least the virtual time at which the
// last run of any account started. The next run is the oldest of the account that
// was served least.
//
// A short run is in the queue of short runs, or in that of the others while no process has
// workers for short ones. Which of the two is chosen with the turns.
//
// River takes available jobs by priority, then by when they are due and by their ids. So the
// next runs are available, with priorities by which river takes them in their turn, and all
// others are pending. Turns are assigned again
// whenever a run is enqueued, and when one starts or ends if that can change them, in one
// statement over all waiting runs; a lock makes processes assign them one after the other, and calls of a process
// that come while it waits share an assignment. A run that has
// started before, and was interrupted or continues in another process, needs no turn;
// one that has yielded (yield.go) does.

// Share says whose a run is, and what it costs. It is the metadata of the run's job.
type Share struct {
	Account string `json:"account"`
	Cost    int64  `json:"cost"`            // estimated, at least 1, relative to other runs
	Batch   bool   `json:"batch,omitempty"` // it waits until the account's other runs have started
	Short   bool   `json:"short,omitempty"` // it takes the queue of short runs, while that has workers
}

// turns is how many runs are available at once, one for each of river's four
// priorities. Four workers that become free at the same time can each take one. It is also
// the priority of a run that waits: river's lowest.
const turns = 4

// toShare makes a new job one of a fair kind, which is pending until its turn. It starts with
// the queue and the priority that the choice of the next runs would give it.
func (j *Jobs) toShare(ctx context.Context, o *river.InsertOpts, k kind, args Args) error {
	share, err := k.share(ctx, args)
	if err != nil {
		return fmt.Errorf("estimate the cost of %s: %w", args.Kind(), err)
	}
	if share.Short && j.short.queue != "" {
		o.Queue = j.short.queue
	}
	o.Pending, o.Priority = true, turns
	o.Metadata, err = json.Marshal(share)
	return err
}

// fairKinds returns the names of the fair kinds.
func (j *Jobs) fairKinds() (names []string) {
	for name, k := range j.kinds {
		if k.share != nil {
			names = append(names, name)
		}
	}
	return names
}

// notStarted is the SQL condition of runs that wait for a turn: they have not started, or
// have yielded.
const notStarted = `state IN ('available', 'pending') AND (attempt = 0 AND NOT metadata ? 'snoozes' OR metadata ? 'yielded')`

// nextRuns is the SQL that orders the runs that may be next, each with its turn in its
// queue. Its parameters are the fair kinds, accounts, how many runs each of these may have in
// progress (null for all workers of the queue but one), a job that is left out, the queue of
// short runs, and that which they take otherwise. Without
// accounts, this is the limit of all. Otherwise it orders only runs of these accounts: a run
// of another account was enqueued after the limits were read, and its process chooses the
// next runs after that. A run that is due to be tried again occupies no worker, but counts
// for the limit of its account.
const nextRuns = `
WITH staff AS (
	SELECT queue, sum(workers) AS workers FROM jobs.run_workers
	WHERE until BETWEEN now() AND now() + interval '1 day' GROUP BY queue
), runs AS (
	SELECT id, state, attempt, priority, scheduled_at, metadata, coalesce(metadata->>'account', '') AS account, metadata ? 'batch' AS batch,
	       CASE WHEN state = 'running' OR NOT metadata ? 'short' THEN queue
	            WHEN EXISTS (SELECT FROM staff s WHERE s.queue = $5) THEN $5 ELSE $6 END AS queue,
	       CASE WHEN metadata ? 'yielded' THEN 0 ELSE greatest(coalesce((metadata->>'cost')::bigint, 1), 1) END AS cost
	FROM jobs.river_job
	WHERE kind = ANY($1) AND state IN ('available', 'pending', 'retryable', 'running', 'scheduled') AND id <> $4
), waiting AS (
	SELECT * FROM runs WHERE ` + notStarted + `
), busy AS (
	SELECT account, count(*) AS runs FROM runs WHERE NOT (` + notStarted + `) GROUP BY account
), occupied AS (
	SELECT queue, account, count(*) AS runs FROM runs WHERE NOT (` + notStarted + `) AND state IN ('available', 'running') GROUP BY queue, account
), latest AS (
	SELECT queue, max(began) AS began FROM jobs.run_shares GROUP BY queue
), served AS (
	SELECT w.id, w.queue, w.account, w.batch, w.state, w.priority, w.scheduled_at,
	       greatest(coalesce(s.ended, 0), coalesce(l.began, 0))
	         + sum(w.cost) OVER (PARTITION BY w.queue, w.account ORDER BY w.batch, w.id) - w.cost AS begins,
	       row_number() OVER (PARTITION BY w.account ORDER BY w.batch, w.id) AS number,
	       row_number() OVER (PARTITION BY w.queue, w.account ORDER BY w.batch, w.id) AS place
	FROM waiting w LEFT JOIN jobs.run_shares s USING (queue, account) LEFT JOIN latest l USING (queue)
), next AS (
	SELECT s.id, s.queue, s.account, s.batch, s.begins, s.state, s.priority, s.scheduled_at, row_number() OVER (PARTITION BY s.queue ORDER BY s.begins, s.id) AS turn
	FROM served s LEFT JOIN busy b USING (account) LEFT JOIN occupied o USING (queue, account) LEFT JOIN staff k USING (queue)
	LEFT JOIN unnest($2::text[], $3::bigint[]) AS bound (account, most) USING (account)
	WHERE ($2::text[] IS NULL OR account = ANY($2)) AND CASE
		WHEN bound.most IS NOT NULL THEN s.number + coalesce(b.runs, 0) <= bound.most
		WHEN coalesce(k.workers, 0) > 1 THEN s.place + coalesce(o.runs, 0) < k.workers
		ELSE true END
)`

// assignTurns is the SQL that chooses the next runs. Its parameters are those of nextRuns,
// and turns.
//
// A run that becomes available keeps the priority of those that wait, and one that is
// available already keeps its own, unless river would then take the runs of a queue in
// another order than that of their turns: as the indexes of river's table have the priority,
// each change of it costs as much as a new job. A run that has begun before gets the first
// priority, so that it does not wait for those that have not.
const assignTurns = nextRuns + `, placed AS (
	SELECT id, queue, turn, priority, row_number() OVER (PARTITION BY queue ORDER BY priority, scheduled_at, id) AS place
	FROM (
		SELECT id, queue, turn, scheduled_at, CASE WHEN state = 'available' THEN priority ELSE $7 END AS priority FROM next WHERE turn <= $7
	) AS chosen
), chosen AS MATERIALIZED (
	SELECT id, CASE WHEN bool_and(place = turn) OVER (PARTITION BY queue) THEN priority ELSE turn END AS priority FROM placed
), changed AS (
	UPDATE jobs.river_job j
	SET state = CASE WHEN c.id IS NULL THEN 'pending' ELSE 'available' END::jobs.river_job_state, priority = coalesce(c.priority, $7), queue = w.queue
	FROM waiting w LEFT JOIN chosen c USING (id)
	WHERE j.id = w.id AND j.state IN ('available', 'pending')
	  AND (j.state, j.priority, j.queue) IS DISTINCT FROM (CASE WHEN c.id IS NULL THEN 'pending' ELSE 'available' END::jobs.river_job_state, coalesce(c.priority, $7), w.queue)
	RETURNING j.queue, j.state
), moved AS (
	UPDATE jobs.river_job j SET queue = r.queue, priority = 1
	FROM (SELECT id, queue FROM runs WHERE NOT (` + notStarted + `)) r
	WHERE j.id = r.id AND j.state IN ('available', 'retryable', 'scheduled') AND (j.queue <> r.queue OR j.priority <> 1)
	RETURNING j.queue, j.state
)
SELECT pg_notify('jobs.river_insert', json_build_object('queue', queue)::text)
FROM (SELECT * FROM changed UNION ALL SELECT * FROM moved) AS free WHERE state = 'available' GROUP BY queue`

// noStart is the id that stands for no job in nextRuns.
const noStart = 0

// step is what comes before a choice of the next runs, in its transaction: a run is
// enqueued, or has started.
type step struct {
	ctx     context.Context // of the caller, for its values
	args    Args            // to enqueue; nil for none
	options *river.InsertOpts
	started int64 // a job, whose cost is added to its account's virtual time; noStart for none
}

// values is a context with the values of another one.
type values struct {
	context.Context
	of context.Context
}

func (c values) Value(key any) any { return c.of.Value(key) }

// chooseNext chooses the next runs after a step, nil for none. Calls of a process that come
// while it chooses share the next choice.
func (j *Jobs) chooseNext(ctx context.Context, s *step) error {
	_, _, err := j.choices.Get(ctx, s)
	return err
}

// choose does steps and chooses the next runs, in one transaction. After starts alone it does
// not choose if that would change nothing.
func (j *Jobs) choose(ctx context.Context, steps []*step) (map[*step]struct{}, error) {
	enqueues := slices.ContainsFunc(steps, func(s *step) bool { return s != nil && s.args != nil })
	starts := !slices.ContainsFunc(steps, func(s *step) bool { return s == nil || s.args != nil })
	err := j.choosing(ctx, enqueues, func(tx pgx.Tx) error {
		var locked []string // queues with a run that workers skip until tx ends, since it is enqueued again
		for _, s := range steps {
			switch {
			case s == nil:
			case s.args != nil:
				inserted, err := j.client.InsertTx(values{ctx, s.ctx}, tx, s.args, s.options)
				if err != nil {
					return fmt.Errorf("enqueue %s: %w", s.args.Kind(), err)
				}
				if inserted.UniqueSkippedAsDuplicate {
					locked = append(locked, inserted.Job.Queue)
				}
			default:
				if _, err := tx.Exec(ctx, addStart, s.started); err != nil {
					return err
				}
			}
		}
		if starts {
			changes, err := j.choiceChanges(ctx, tx)
			if err == nil && !changes {
				err = errUnchanged
			}
			return err
		}
		if len(locked) == 0 {
			return nil
		}
		return notify(ctx, tx, locked...)
	}, nil)
	if err != nil {
		return nil, fmt.Errorf("choose the next runs: %w", err)
	}
	return nil, nil //nolint:nilnil // the callers wait for the choice only
}

// chooseAfterEnd chooses the next runs after the end of a run, if that can change the choice.
func (j *Jobs) chooseAfterEnd(ctx context.Context) error {
	changes, err := j.choiceChanges(ctx, j.pool)
	if err != nil {
		return fmt.Errorf("look for runs that wait for a turn: %w", err)
	}
	if !changes {
		return nil
	}
	return j.chooseNext(ctx, nil)
}

// fewTurns is how many runs of a queue are available, at most, when the next ones get a turn
// after the start or the end of a run.
const fewTurns = turns / 2

// errUnchanged ends a transaction without a choice. What came before it is committed.
var errUnchanged = errors.New("the choice of the next runs would not change")

// choiceChanges reports whether a choice is due after the start or the end of a run: a run
// waits without a turn, and its queue has few turns left or runs of several accounts wait. A
// single account's runs keep their order, whatever its virtual time, and those that have a
// turn are within its limit.
func (j *Jobs) choiceChanges(ctx context.Context, db interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}) (changes bool, err error) {
	err = db.QueryRow(ctx, `
		SELECT EXISTS (
			SELECT FROM jobs.river_job WHERE kind = ANY($1) AND `+notStarted+` GROUP BY queue
			HAVING bool_or(state = 'pending') AND (count(*) FILTER (WHERE state = 'available') <= $2 OR count(DISTINCT metadata->>'account') > 1))`,
		j.fairKinds(), fewTurns).Scan(&changes)
	return changes, err
}

// choosing chooses the next runs after first and ask, which may be nil, in their transaction,
// in which no other process chooses or enqueues runs. ask gets the limits of the accounts
// after first. Unless first enqueues, the commit does not wait for the disk, because the next
// reconciliation chooses again.
func (j *Jobs) choosing(ctx context.Context, enqueues bool, first func(pgx.Tx) error, ask func(tx pgx.Tx, accounts []string, limits []*int64) error) error {
	return pgx.BeginFunc(ctx, j.pool, func(tx pgx.Tx) error {
		commit := "off"
		if enqueues {
			commit = "on"
		}
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtext('turns of runs')), set_config('synchronous_commit', $1, true)`, commit); err != nil {
			return err
		}
		if first != nil {
			if err := first(tx); errors.Is(err, errUnchanged) {
				return nil
			} else if err != nil {
				return err
			}
		}
		accounts, limits, err := j.runLimits(ctx, tx)
		if err != nil {
			return err
		}
		if ask != nil {
			if err := ask(tx, accounts, limits); err != nil {
				return err
			}
		}
		_, err = tx.Exec(ctx, assignTurns, j.fairKinds(), accounts, limits, noStart, j.short.queue, j.short.otherwise, turns)
		return err
	})
}

// runLimits returns how many runs each account with a waiting run may have in
// progress, or nil when there are no limits.
func (j *Jobs) runLimits(ctx context.Context, tx pgx.Tx) (accounts []string, limits []*int64, err error) {
	if j.config.MaxRunning == nil {
		return nil, nil, nil
	}
	rows, err := tx.Query(ctx, `SELECT DISTINCT coalesce(metadata->>'account', '') FROM jobs.river_job WHERE kind = ANY($1) AND `+notStarted, j.fairKinds())
	if err != nil {
		return nil, nil, err
	}
	if accounts, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
		return nil, nil, err
	}
	for _, account := range accounts {
		n, err := j.config.MaxRunning(ctx, account)
		if err != nil {
			return nil, nil, fmt.Errorf("read how many runs %s may have in progress: %w", account, err)
		}
		limits = append(limits, n)
	}
	return accounts, limits, nil
}

// addStart is the SQL that adds the cost of a job that starts for the first time to its
// account's virtual time. One that has yielded is no longer marked; its time was added when it
// yielded.
const addStart = `
WITH started AS (
	SELECT id, queue, coalesce(metadata->>'account', '') AS account,
	       CASE WHEN metadata ? 'yielded' THEN 0 ELSE greatest(coalesce((metadata->>'cost')::bigint, 1), 1) END AS cost
	FROM jobs.river_job WHERE id = $1 AND (attempt = 1 AND NOT metadata ? 'snoozes' OR metadata ? 'yielded')
), unmarked AS (
	UPDATE jobs.river_job j SET metadata = j.metadata - 'yielded' FROM started s WHERE j.id = s.id AND j.metadata ? 'yielded'
)
INSERT INTO jobs.run_shares (queue, account, began, ended)
SELECT j.queue, j.account, at, at + j.cost
FROM started j, greatest(
	coalesce((SELECT s.ended FROM jobs.run_shares s WHERE s.queue = j.queue AND s.account = j.account), 0),
	coalesce((SELECT max(s.began) FROM jobs.run_shares s WHERE s.queue = j.queue), 0)) AS at
ON CONFLICT (queue, account) DO UPDATE SET began = excluded.began, ended = excluded.ended`

// recordStart adds the cost of a run that starts for the first time to its account's
// virtual time. A failure is only logged, and the run starts anyway.
func (j *Jobs) recordStart(ctx context.Context, job *rivertype.JobRow) {
	if err := j.chooseNext(ctx, &step{ctx: ctx, started: job.ID}); err != nil && ctx.Err() == nil {
		j.config.Log.WarnContext(ctx, "the cost of a run was not added to its account", "job", job.ID, "error", err)
	}
}

// subscribeToEnds returns the events after which an account may start another run.
func (j *Jobs) subscribeToEnds() (events <-chan *river.Event, stop func()) {
	return j.client.Subscribe(river.EventKindJobCompleted, river.EventKindJobCancelled, river.EventKindJobFailed, river.EventKindJobSnoozed)
}
