package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
)

// reconcileUntil reconciles every Config.Reconcile until ctx ends. It is not a job
// itself, because it repairs the queue.
func (j *Jobs) reconcileUntil(ctx context.Context) {
	tick := time.NewTicker(j.config.Reconcile)
	defer tick.Stop()
	ended, stop := j.subscribeToEnds()
	defer stop()
	next := j.reconcile
	for {
		if err := next(ctx); err != nil && ctx.Err() == nil {
			j.config.Log.WarnContext(ctx, "jobs could not be reconciled", "error", err)
		}
		select {
		case <-tick.C:
			next = j.reconcile
		case e := <-ended:
			next = j.afterEnd(e, ended)
		case <-ctx.Done():
			return
		}
	}
}

// afterEnd returns the action after the end of a job, and of those that have ended since:
// when a run has ended, another may start.
func (j *Jobs) afterEnd(e *river.Event, more <-chan *river.Event) func(context.Context) error {
	return func(ctx context.Context) error {
		for run := false; ; {
			run = run || e != nil && j.kinds[e.Job.Kind].share != nil
			select {
			case e = <-more:
				if e != nil {
					continue
				}
			default:
			}
			if !run {
				return nil
			}
			return j.chooseAfterEnd(ctx)
		}
	}
}

func (j *Jobs) reconcile(ctx context.Context) error {
	if err := j.attend(ctx); err != nil {
		return err
	}
	freed, err := j.freeOrphans(ctx)
	if err != nil {
		return err
	}
	if freed > 0 {
		j.config.Log.InfoContext(ctx, "jobs of dead workers are available again", "jobs", freed)
	}
	advanced, err := j.advance(ctx)
	if err != nil {
		return err
	}
	if advanced > 0 {
		j.config.Log.WarnContext(ctx, "jobs were due too late, because a clock was ahead; they are due now", "jobs", advanced)
	}
	return j.enqueueMissing(ctx)
}

// aheadOfClock is longer than any delay of a job, of which a failed attempt's is the
// longest. A job that is due later, or was fetched later, has its time from a clock that was
// ahead: the database's, or that of the process that worked on it.
const aheadOfClock = time.Minute

// advance makes jobs due that would otherwise wait until the clock has caught up.
func (j *Jobs) advance(ctx context.Context) (int64, error) {
	n, err := j.release(ctx, `
		UPDATE jobs.river_job SET scheduled_at = now()
		WHERE state IN ('available', 'retryable', 'scheduled') AND scheduled_at > now() + make_interval(secs => $1)
		RETURNING queue`, aheadOfClock.Seconds())
	if err != nil {
		return 0, fmt.Errorf("look for jobs that are due too late: %w", err)
	}
	return n, nil
}

// freeOrphans makes running jobs available again whose lock no worker holds.
func (j *Jobs) freeOrphans(ctx context.Context) (int64, error) {
	n, err := j.release(ctx, `
		UPDATE jobs.river_job j SET state = 'available', scheduled_at = now()
		WHERE state = 'running' AND (attempted_at < now() - make_interval(secs => $1) OR attempted_at > now() + make_interval(secs => $2))
		  AND NOT EXISTS (
			SELECT FROM pg_locks l
			WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted
			  AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
			  AND (l.classid::bigint << 32 | l.objid::bigint) = `+fmt.Sprintf(lockName, "j.kind", "j.args")+`)
		RETURNING j.queue`, j.config.Grace.Seconds(), aheadOfClock.Seconds())
	if err != nil {
		return 0, fmt.Errorf("free the jobs of dead workers: %w", err)
	}
	return n, nil
}

// release makes jobs due with an UPDATE that returns their queues, and notifies the workers
// of these. It returns how many jobs there are.
func (j *Jobs) release(ctx context.Context, update string, args ...any) (n int64, err error) {
	var queues int64
	err = j.pool.QueryRow(ctx, `WITH changed AS (`+update+`)`+notifiedOf, args...).Scan(&n, &queues)
	return n, err
}

// Need describes objects that each need a job. When an object has none, for example
// because the queue was lost with its database, a reconciliation enqueues one.
type Need struct {
	Name   string   // plural name of the objects, for messages
	Kinds  []string // kinds of jobs, any of which meets the need
	Member string   // member of the jobs' arguments with the object's id
	// List returns the ids of the objects.
	List func(ctx context.Context) ([]string, error)
	// Job returns the job to enqueue for an object.
	Job func(ctx context.Context, id string) (Args, error)
}

// Require adds a need. It is called before Work.
func (j *Jobs) Require(n Need) { j.needs = append(j.needs, n) }

func (j *Jobs) enqueueMissing(ctx context.Context) error {
	for i := range j.needs {
		if err := j.enqueueMissingOf(ctx, &j.needs[i]); err != nil {
			return err
		}
	}
	return j.chooseNext(ctx, nil)
}

func (j *Jobs) enqueueMissingOf(ctx context.Context, n *Need) error {
	wanted, err := n.List(ctx)
	if err != nil {
		return fmt.Errorf("list the %s that need a job: %w", n.Name, err)
	}
	if len(wanted) == 0 {
		return nil
	}
	rows, err := j.pool.Query(ctx, `
		SELECT id FROM unnest($1::text[]) AS wanted (id)
		WHERE NOT EXISTS (
			SELECT FROM jobs.river_job j
			WHERE j.kind = ANY($2) AND j.args @> jsonb_build_object($3::text, wanted.id)
			  AND j.state NOT IN ('completed', 'cancelled', 'discarded'))`,
		wanted, n.Kinds, n.Member)
	if err != nil {
		return fmt.Errorf("find %s without a job: %w", n.Name, err)
	}
	missing, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(missing) == 0 {
		return err
	}
	params, queues := make([]river.InsertManyParams, len(missing)), make([]string, len(missing))
	for i, id := range missing {
		args, err := n.Job(ctx, id)
		if err != nil {
			return fmt.Errorf("make the job of %s: %w", id, err)
		}
		options, err := j.options(ctx, args)
		if err != nil {
			return err
		}
		params[i] = river.InsertManyParams{Args: args, InsertOpts: options}
		queues[i] = options.Queue
	}
	err = j.choosing(ctx, true, func(tx pgx.Tx) error {
		if _, err := j.client.InsertManyTx(ctx, tx, params); err != nil {
			return err
		}
		return notify(ctx, tx, queues...)
	}, nil)
	if err != nil {
		return fmt.Errorf("enqueue the %s without a job: %w", n.Name, err)
	}
	j.config.Log.InfoContext(ctx, "missing jobs were enqueued", "of", n.Name, "jobs", len(missing))
	return nil
}
