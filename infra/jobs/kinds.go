package jobs

import (
	"context"
	"errors"
	"time"

	"github.com/riverqueue/river"
)

// queueHousekeeping keeps short work from waiting behind simulations.
const queueHousekeeping = "housekeeping"

// queueExtraction keeps the reading of traces, which may be long, from keeping
// anything else waiting.
const queueExtraction = "extraction"

// extractions is how many tracesets a process reads at a time.
const extractions = 2

// queueFollowing is for simulations that run at remote engines, which cost this
// process next to nothing, but may take days.
const queueFollowing = "following"

// RunSimulation is the run of one simulation.
type RunSimulation struct {
	SimulationID string `json:"simulationId"`
}

// FollowSimulation is the run of one simulation at a remote engine.
type FollowSimulation struct {
	SimulationID string `json:"simulationId"`
}

// PurgeSimulation removes results, logs and checkpoints of a deleted one.
type PurgeSimulation struct {
	SimulationID string `json:"simulationId"`
}

// ExtractTraceset reads what the files of a traceset hold.
type ExtractTraceset struct {
	TracesetID string `json:"tracesetId"`
}

// ClearUpload removes what is staged of an upload that has ended.
type ClearUpload struct {
	UploadID string `json:"uploadId"`
}

// ExpireUploads ends the uploads that have expired.
type ExpireUploads struct{}

// SweepTracesets deletes the tracesets that have expired, and what is stored of
// those that are deleted.
type SweepTracesets struct{}

// ReleaseHolds frees the credit that is set aside for too long.
type ReleaseHolds struct{}

// AccrueDay rates the costs of a day.
type AccrueDay struct {
	Date string `json:"date"`
}

// PublishCheckpoint signs and publishes what the log holds after a day.
type PublishCheckpoint struct {
	Date string `json:"date"`
}

// runKinds are those of simulations' runs, wherever they run.
func runKinds() []string { return []string{RunSimulation{}.Kind(), FollowSimulation{}.Kind()} }

// Kind implements river.JobArgs.
func (RunSimulation) Kind() string { return "run_simulation" }

// Kind implements river.JobArgs.
func (FollowSimulation) Kind() string { return "follow_simulation" }

// Kind implements river.JobArgs.
func (PurgeSimulation) Kind() string { return "purge_simulation" }

// Kind implements river.JobArgs.
func (ClearUpload) Kind() string { return "clear_upload" }

// Kind implements river.JobArgs.
func (ExpireUploads) Kind() string { return "expire_uploads" }

// Kind implements river.JobArgs.
func (SweepTracesets) Kind() string { return "sweep_tracesets" }

// Kind implements river.JobArgs.
func (ReleaseHolds) Kind() string { return "release_holds" }

// Kind implements river.JobArgs.
func (ExtractTraceset) Kind() string { return "extract_traceset" }

// Kind implements river.JobArgs.
func (AccrueDay) Kind() string { return "accrue_day" }

// Kind implements river.JobArgs.
func (PublishCheckpoint) Kind() string { return "publish_checkpoint" }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (PublishCheckpoint) InsertOpts() river.InsertOpts { return once(queueHousekeeping) }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (RunSimulation) InsertOpts() river.InsertOpts { return once(river.QueueDefault) }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (FollowSimulation) InsertOpts() river.InsertOpts { return once(queueFollowing) }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (ClearUpload) InsertOpts() river.InsertOpts { return once(queueHousekeeping) }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (ExpireUploads) InsertOpts() river.InsertOpts { return once(queueHousekeeping) }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (SweepTracesets) InsertOpts() river.InsertOpts { return once(queueHousekeeping) }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (ReleaseHolds) InsertOpts() river.InsertOpts { return once(queueHousekeeping) }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (PurgeSimulation) InsertOpts() river.InsertOpts { return once(queueHousekeeping) }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (ExtractTraceset) InsertOpts() river.InsertOpts { return once(queueExtraction) }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (AccrueDay) InsertOpts() river.InsertOpts { return once(queueHousekeeping) }

// once is a job that is not enqueued while an equal one is still to be done.
func once(queue string) river.InsertOpts {
	return river.InsertOpts{
		Queue: queue, MaxAttempts: maxAttempts,
		UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: openStates()},
	}
}

// maxAttempts is far beyond any outage: a job ends by its own rules.
const maxAttempts = 10_000

// maxRuns is how often the run of a simulation is tried. What passes, such as an
// event log without an answer, has passed by then: the last attempts are half a
// minute apart.
const maxRuns = 50

// worker works on one kind of job, alone on each.
type worker[T river.JobArgs] struct {
	river.WorkerDefaults[T]
	jobs *Jobs
	work func(ctx context.Context, args T) error
	// abandon ends the job after maxRuns attempts; nil of kinds that are tried
	// until they succeed.
	abandon func(ctx context.Context, args T) error
}

// Timeout implements river.Worker: river neither ends nor rescues a job.
func (w *worker[T]) Timeout(*river.Job[T]) time.Duration { return -1 }

// NextRetry implements river.Worker: after 1, 2, 4 … at most 30 seconds.
func (w *worker[T]) NextRetry(job *river.Job[T]) time.Time {
	return w.jobs.config.Now().Add(min(time.Second<<min(job.Attempt-1, 5), 30*time.Second))
}

// busyPause is how long a job is put off that another worker is at.
const busyPause = 2 * time.Second

// Work implements river.Worker.
func (w *worker[T]) Work(ctx context.Context, job *river.Job[T]) error {
	if isRun(job.Kind) {
		w.jobs.starts(ctx, job.JobRow)
	}
	err := w.jobs.alone(ctx, job.Kind, job.EncodedArgs, func(ctx context.Context) error {
		err := w.work(ctx, job.Args)
		if err == nil || ctx.Err() != nil || w.abandon == nil || job.Attempt < maxRuns {
			return err
		}
		w.jobs.config.Log.ErrorContext(ctx, "a job is abandoned", "kind", job.Kind, "args", string(job.EncodedArgs), "attempts", job.Attempt, "error", err)
		return w.abandon(ctx, job.Args)
	})
	switch {
	case errors.Is(err, errBusy):
		return river.JobSnooze(busyPause)
	case err != nil && ctx.Err() != nil:
		return river.JobSnooze(0) // interrupted: the next worker takes it
	}
	return err
}

// daily is just after midnight, UTC, of every day.
type daily struct{}

// Next implements river.PeriodicSchedule.
func (daily) Next(now time.Time) time.Time {
	next := now.UTC().Truncate(24 * time.Hour).Add(30 * time.Second)
	if !next.After(now) {
		next = next.Add(24 * time.Hour)
	}
	return next
}

func yesterday(now time.Time) string { return now.UTC().AddDate(0, 0, -1).Format(time.DateOnly) }
