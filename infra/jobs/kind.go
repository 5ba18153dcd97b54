package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river"
)

// Args are the arguments of a job, stored as JSON. Kind returns the stored name of
// its kind, which must never change.
type Args = interface{ Kind() string }

// Kind says how the jobs of one kind are queued and worked on.
type Kind[A Args] struct {
	Queue string // one of Config.Queues
	// Short is the queue of the jobs whose Share says that they are short, while a process has
	// workers for it. Then they wait for no other job. One kind may have one; "" for none.
	Short string

	// Work does a job. Its context is one for Jobs.Yield. It may be called again for a job that was done or
	// interrupted. Its context ends when the process stops or the job's lock is
	// lost; Work must then return soon. After an error it is called again in 1, 2,
	// 4 … at most 30 seconds.
	Work func(ctx context.Context, args A) error
	// Attempts is the maximum number of calls of Work; 0 means until it succeeds.
	Attempts int
	// Abandon is called for a job whose last attempt failed.
	Abandon func(ctx context.Context, args A) error

	// Share makes the kind fair: it returns whose a job is and what it costs (fair.go).
	// Such a job may end with ErrYielded.
	Share func(ctx context.Context, args A) (Share, error)

	// Schedule, when set, has a job enqueued when the workers start and at each
	// time of the schedule.
	Schedule Schedule
	// Scheduled returns the arguments of a job that is enqueued by Schedule; nil
	// means the zero value.
	Scheduled func(now time.Time) A
}

// Schedule returns the next time after a given one. Daily and Every return
// schedules.
type Schedule = river.PeriodicSchedule

// Every is a schedule with a fixed interval.
func Every(interval time.Duration) Schedule { return river.PeriodicInterval(interval) }

// Daily is a schedule with a time just after midnight, UTC.
func Daily() Schedule { return daily{} }

type daily struct{}

// Next implements river.PeriodicSchedule.
func (daily) Next(now time.Time) time.Time {
	next := now.UTC().Truncate(24 * time.Hour).Add(30 * time.Second)
	if !next.After(now) {
		next = next.Add(24 * time.Hour)
	}
	return next
}

// kind has the fields of a Kind that enqueueing and reconciling need.
type kind struct {
	queue string
	short string                                              // "" for none
	share func(ctx context.Context, args Args) (Share, error) // nil if not fair
}

// Register adds a kind of job. Before Work, every process registers the kinds that
// it enqueues, and a process with workers registers all kinds.
func Register[A Args](j *Jobs, k Kind[A]) {
	var zero A
	registered := kind{queue: k.Queue, short: k.Short}
	if k.Short != "" {
		j.short = shortQueue{k.Short, k.Queue}
	}
	if k.Share != nil {
		registered.share = func(ctx context.Context, args Args) (Share, error) { return k.Share(ctx, args.(A)) }
	}
	j.kinds[zero.Kind()] = registered
	if len(j.config.Queues) == 0 {
		return
	}
	river.AddWorker(j.workers, &worker[A]{jobs: j, kind: k})
	if k.Schedule == nil {
		return
	}
	j.client.PeriodicJobs().Add(river.NewPeriodicJob(k.Schedule, func() (river.JobArgs, *river.InsertOpts) {
		args := zero
		if k.Scheduled != nil {
			args = k.Scheduled(j.config.Now())
		}
		return args, once(k.Queue)
	}, &river.PeriodicJobOpts{RunOnStart: true}))
}

// maxAttempts is river's limit, which no outage reaches: Kind.Attempts limits a job.
const maxAttempts = 10_000

// once returns the options of a job that is not enqueued while an equal one has not
// ended.
func once(queue string) *river.InsertOpts {
	return &river.InsertOpts{
		Queue: queue, MaxAttempts: maxAttempts,
		UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: openStates()},
	}
}

// worker works on the jobs of one kind.
type worker[A Args] struct {
	river.WorkerDefaults[A]
	jobs *Jobs
	kind Kind[A]
}

// Timeout implements river.Worker: river neither ends nor rescues a job.
func (w *worker[A]) Timeout(*river.Job[A]) time.Duration { return -1 }

// NextRetry implements river.Worker: after 1, 2, 4 … at most 30 seconds.
func (w *worker[A]) NextRetry(job *river.Job[A]) time.Time {
	return w.jobs.config.Now().Add(min(time.Second<<min(job.Attempt-1, 5), 30*time.Second))
}

// busyPause is how long a job is delayed while another worker has its lock.
const busyPause = 2 * time.Second

// Work implements river.Worker.
func (w *worker[A]) Work(ctx context.Context, job *river.Job[A]) error {
	recorded := make(chan struct{})
	if w.kind.Share == nil {
		close(recorded)
	} else {
		go func(ctx context.Context) {
			defer close(recorded)
			w.jobs.recordStart(ctx, job.JobRow)
		}(ctx)
		ctx = context.WithValue(ctx, runKey{}, started{job.ID, recorded})
	}
	err := w.jobs.withLock(ctx, job.Kind, job.EncodedArgs, func(ctx context.Context) error {
		err := w.kind.Work(ctx, job.Args)
		// A run need not wait for the choice at its start, but the next one on this worker has
		// to. It waits here, because a job without its lock counts as that of a dead worker.
		<-recorded
		if err == nil || ctx.Err() != nil || errors.Is(err, ErrYielded) || w.kind.Attempts == 0 || job.Attempt < w.kind.Attempts {
			return err
		}
		w.jobs.config.Log.ErrorContext(ctx, "a job is abandoned", "kind", job.Kind, "args", string(job.EncodedArgs), "attempts", job.Attempt, "error", err)
		return w.kind.Abandon(ctx, job.Args)
	})
	switch {
	case errors.Is(err, errBusy):
		return river.JobSnooze(busyPause)
	case err != nil && ctx.Err() != nil, errors.Is(err, ErrYielded):
		return river.JobSnooze(0) // another worker takes the job
	}
	return err
}

// options returns the options of a new job, whose kind must be registered. A job of
// a fair kind is pending until its turn.
func (j *Jobs) options(ctx context.Context, args Args) (*river.InsertOpts, error) {
	k, ok := j.kinds[args.Kind()]
	if !ok {
		return nil, fmt.Errorf("enqueue %s: this kind of job is not registered", args.Kind())
	}
	o := once(k.queue)
	if k.share == nil {
		return o, nil
	}
	return o, j.toShare(ctx, o, k, args)
}
