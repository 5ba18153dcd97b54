package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// pollEvery bounds how long a job waits for a worker whose notification was lost, or whose
// process ended before it could notify.
const pollEvery = 5 * time.Second

// notifyQueues is the SQL that notifies the workers of the queues $1, as river does for
// inserted jobs. River itself sends no second notification for a queue within
// Config.FetchCooldown, also if the first one was for a transaction that ended before.
const notifyQueues = `SELECT pg_notify('jobs.river_insert', json_build_object('queue', queue)::text) FROM unnest($1::text[]) AS queue`

// notifiedOf is the SQL that notifies the workers of the queues of the rows of a table
// changed, and counts these rows.
const notifiedOf = `, notified AS (
	SELECT pg_notify('jobs.river_insert', json_build_object('queue', queue)::text) FROM changed GROUP BY queue
)
SELECT (SELECT count(*) FROM changed), (SELECT count(*) FROM notified)`

type execer interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

func notify(ctx context.Context, db execer, queues ...string) error {
	if _, err := db.Exec(ctx, notifyQueues, queues); err != nil {
		return fmt.Errorf("notify the workers: %w", err)
	}
	return nil
}

// wakeSlot is how exactly a worker is notified of a delayed job. All jobs of a queue that
// are due in one slot share a notification.
const wakeSlot = 50 * time.Millisecond

// wakeup is a notification to send.
type wakeup struct {
	queue string
	at    time.Time
}

// wakeUntil notifies the workers, until ctx ends, when a job is due that a worker of this
// process has delayed. River makes such a job available before it is due, and leaves it to
// the polls of the workers to find it.
func (j *Jobs) wakeUntil(ctx context.Context) {
	delayed, stop := j.client.Subscribe(river.EventKindJobFailed, river.EventKindJobSnoozed)
	defer stop()
	due, planned := make(chan wakeup), map[wakeup]*time.Timer{}
	defer func() {
		for _, timer := range planned {
			timer.Stop()
		}
	}()
	for {
		select {
		case e := <-delayed:
			if e == nil || !waits(e.Job.State) {
				continue
			}
			w := wakeup{e.Job.Queue, e.Job.ScheduledAt.Truncate(wakeSlot).Add(wakeSlot)}
			if planned[w] == nil {
				planned[w] = time.AfterFunc(time.Until(w.at), func() {
					select {
					case due <- w:
					case <-ctx.Done():
					}
				})
			}
		case w := <-due:
			delete(planned, w)
			if err := notify(ctx, j.pool, w.queue); err != nil && ctx.Err() == nil {
				j.config.Log.WarnContext(ctx, "workers were not notified; they find the job with their next poll", "queue", w.queue, "error", err)
			}
		case <-ctx.Done():
			return
		}
	}
}

func waits(state rivertype.JobState) bool {
	return state == rivertype.JobStateAvailable || state == rivertype.JobStateRetryable || state == rivertype.JobStateScheduled
}

// handOver notifies the workers of other processes of the jobs that those of this process
// have left.
func (j *Jobs) handOver(ctx context.Context) {
	var queues []string
	for queue := range j.config.Queues {
		queues = append(queues, queue)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pingTimeout)
	defer cancel()
	if err := notify(ctx, j.pool, queues...); err != nil {
		j.config.Log.WarnContext(ctx, "other workers were not notified; they find the jobs of this process with their next poll", "error", err)
	}
}
