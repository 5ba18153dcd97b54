package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
)

// reconcileUntil reconciles now and then until ctx ends. It is not a job
// itself, because it repairs the queue.
func (j *Jobs) reconcileUntil(ctx context.Context) {
	beat := time.NewTicker(j.config.Reconcile)
	defer beat.Stop()
	ended, stop := j.ends()
	defer stop()
	do := j.reconcile
	for {
		if err := do(ctx); err != nil && ctx.Err() == nil {
			j.config.Log.WarnContext(ctx, "jobs could not be reconciled", "error", err)
		}
		select {
		case <-beat.C:
			do = j.reconcile
		case e := <-ended:
			do = j.afterEnd(e)
		case <-ctx.Done():
			return
		}
	}
}

// afterEnd is what follows when a job has ended: another run may start.
func (j *Jobs) afterEnd(e *river.Event) func(context.Context) error {
	return func(ctx context.Context) error {
		if e == nil || !isRun(e.Job.Kind) {
			return nil
		}
		return j.shareOut(ctx, nil)
	}
}

func (j *Jobs) reconcile(ctx context.Context) error {
	freed, err := j.freeOrphans(ctx)
	if err != nil {
		return err
	}
	if freed > 0 {
		j.config.Log.InfoContext(ctx, "jobs lost their worker and wait for another", "jobs", freed)
	}
	return j.enqueueMissing(ctx)
}

// freeOrphans makes jobs available again that are called running while nobody
// holds their lock.
func (j *Jobs) freeOrphans(ctx context.Context) (int64, error) {
	tag, err := j.pool.Exec(ctx, `
		UPDATE jobs.river_job j SET state = 'available', scheduled_at = now()
		WHERE state = 'running' AND attempted_at < now() - make_interval(secs => $1)
		  AND NOT EXISTS (
			SELECT FROM pg_locks l
			WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted
			  AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
			  AND (l.classid::bigint << 32 | l.objid::bigint) = `+fmt.Sprintf(lockName, "j.kind", "j.args")+`)`, j.config.Grace.Seconds())
	if err != nil {
		return 0, fmt.Errorf("free the jobs of dead workers: %w", err)
	}
	return tag.RowsAffected(), nil
}

// enqueueMissing enqueues the simulations that are to run and the tracesets that
// are to be extracted, where they have no job.
func (j *Jobs) enqueueMissing(ctx context.Context) error {
	err := j.enqueueOf(ctx, "simulations", j.config.Unfinished, "simulationId", runKinds(), j.runOf)
	if err != nil {
		return err
	}
	if err := j.shareOut(ctx, nil); err != nil {
		return err
	}
	extractions := []string{ExtractTraceset{}.Kind()}
	return j.enqueueOf(ctx, "tracesets", j.config.Processing, "tracesetId", extractions, func(_ context.Context, id string) (river.JobArgs, *river.InsertOpts, error) {
		return ExtractTraceset{TracesetID: id}, nil, nil
	})
}

// enqueueOf enqueues the jobs about what is listed, where they are missing: jobs
// of these kinds, whose arguments have the id as this member.
func (j *Jobs) enqueueOf(
	ctx context.Context, what string, list func(context.Context) ([]string, error),
	member string, kinds []string, job func(ctx context.Context, id string) (river.JobArgs, *river.InsertOpts, error),
) error {
	if list == nil {
		return nil
	}
	wanted, err := list(ctx)
	if err != nil {
		return fmt.Errorf("list the %s that need a job: %w", what, err)
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
		wanted, kinds, member)
	if err != nil {
		return fmt.Errorf("look for %s without a job: %w", what, err)
	}
	missing, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(missing) == 0 {
		return err
	}
	params := make([]river.InsertManyParams, len(missing))
	for i, id := range missing {
		if params[i].Args, params[i].InsertOpts, err = job(ctx, id); err != nil {
			return err
		}
	}
	if _, err := j.client.InsertMany(ctx, params); err != nil {
		return fmt.Errorf("enqueue the %s without a job: %w", what, err)
	}
	j.config.Log.InfoContext(ctx, what+" without a job were enqueued", what, len(missing))
	return nil
}
