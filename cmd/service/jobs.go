package service

import (
	"context"
	"errors"
	"time"

	"netsim/billing"
	"netsim/cmd/checkpoints"
	"netsim/cmd/connections"
	"netsim/cmd/settings"
	"netsim/commands"
	"netsim/content/traces"
	"netsim/content/uploads"
	"netsim/infra/jobs"
	"netsim/projections"
	"netsim/reactions"
	"netsim/runs"
	"netsim/runs/studies"
)

// The queues of jobs. Long jobs have their own queues, so other jobs do not wait for
// them.
const (
	queueRuns         = "default"
	queueShort        = "short"     // runs that take a moment
	queueFollowing    = "following" // runs at remote engines, which need little of this process but may take days
	queueExtraction   = "extraction"
	queueStudies      = "studies" // which wait for their runs most of the time
	queueHousekeeping = "housekeeping"
)

// expireEvery is the interval between two searches for expired uploads and overdue holds.
const expireEvery = 5 * time.Minute

// openJobs connects to the job queue. Only a process with the role worker runs jobs.
func (s *base) openJobs(ctx context.Context) (*jobs.Jobs, error) {
	c := jobs.Config{
		URL: s.config.Postgres, Pool: s.Option, Log: s.log, Now: time.Now, Tracer: s.traces.Tracer(), MaxRunning: s.maxRuns,
		Reconcile: s.config.JobReconcile, Grace: s.config.JobGrace, Migrated: !s.config.Migrate,
	}
	if s.config.Has(settings.RoleWorker) {
		c.Queues = map[string]int{queueRuns: s.config.Workers, queueFollowing: s.config.EngineRuns, queueExtraction: 2, queueStudies: studiesAtOnce, queueHousekeeping: 1}
		if s.config.ShortRuns > 0 {
			c.Queues[queueShort] = s.config.ShortRuns
		}
	}
	j, err := jobs.Open(ctx, c)
	return j, orMigrate(err)
}

// registerJobs registers every kind of job with the function that does it.
func (s *base) registerJobs(d *domain) {
	s.registerRuns(d)
	s.registerStudies(d)
	jobs.Register(d.jobs, jobs.Kind[traces.ExtractTraceset]{
		Queue: queueExtraction,
		Work: func(ctx context.Context, a traces.ExtractTraceset) error {
			return d.extractor.Extract(ctx, a.TracesetID)
		},
	})
	jobs.Register(d.jobs, jobs.Kind[uploads.ClearUpload]{
		Queue: queueHousekeeping,
		Work:  func(ctx context.Context, a uploads.ClearUpload) error { return d.uploads.Clear(ctx, a.UploadID) },
	})
	jobs.Register(d.jobs, jobs.Kind[uploads.ExpireUploads]{
		Queue: queueHousekeeping, Schedule: jobs.Every(expireEvery),
		Work: func(ctx context.Context, _ uploads.ExpireUploads) error { return d.uploads.Expire(ctx) },
	})
	jobs.Register(d.jobs, jobs.Kind[reactions.SweepTracesets]{
		Queue: queueHousekeeping, Schedule: jobs.Every(time.Hour),
		Work: func(ctx context.Context, _ reactions.SweepTracesets) error { return d.tracesetTTL.Sweep(ctx) },
	})
	jobs.Register(d.jobs, jobs.Kind[billing.ReleaseHolds]{
		Queue: queueHousekeeping, Schedule: jobs.Every(expireEvery),
		Work: func(ctx context.Context, _ billing.ReleaseHolds) error { return d.holds.ReleaseOverdue(ctx) },
	})
	jobs.Register(d.jobs, jobs.Kind[billing.AccrueDay]{
		Queue: queueHousekeeping, Schedule: jobs.Daily(),
		Scheduled: func(now time.Time) billing.AccrueDay { return billing.AccrueDay{Date: dayBefore(now)} },
		Work:      func(ctx context.Context, a billing.AccrueDay) error { return s.accrue(ctx, d.books, a.Date) },
	})
	jobs.Register(d.jobs, jobs.Kind[checkpoints.PublishCheckpoint]{
		Queue: queueHousekeeping, Schedule: jobs.Daily(),
		Scheduled: func(now time.Time) checkpoints.PublishCheckpoint {
			return checkpoints.PublishCheckpoint{Date: dayBefore(now)}
		},
		Work: func(ctx context.Context, a checkpoints.PublishCheckpoint) error {
			return s.checkpointDay(ctx, d.writer, a.Date)
		},
	})
	d.jobs.Require(jobs.Need{
		Name: "tracesets", Kinds: []string{traces.ExtractTraceset{}.Kind()}, Member: "tracesetId",
		List: s.waiting(projections.ProcessingTracesets),
		Job: func(_ context.Context, id string) (jobs.Args, error) {
			return traces.ExtractTraceset{TracesetID: id}, nil
		},
	})
}

// checkpointDay publishes the log checkpoint of a day that has ended, and deletes old
// heads. Without a key it does nothing.
func (s *base) checkpointDay(ctx context.Context, w *connections.Writer, day string) error {
	if s.auditKey == nil {
		return nil
	}
	p := checkpoints.Publisher{Connections: s.Connections, Reads: s.verified, Commands: w.Handler}
	if err := p.Publish(ctx, s.auditKey, day); err != nil {
		return err
	}
	return checkpoints.Sweep(ctx, s.Connections, s.auditKey, time.Now())
}

// registerRuns registers the jobs of simulations.
func (s *base) registerRuns(d *domain) {
	registerRun(d, queueRuns, queueShort, func(a runs.RunSimulation) (string, runs.Weight) { return a.SimulationID, a.Weight })
	registerRun(d, queueFollowing, "", func(a runs.FollowSimulation) (string, runs.Weight) { return a.SimulationID, a.Weight })
	jobs.Register(d.jobs, jobs.Kind[runs.PurgeSimulation]{
		Queue: queueHousekeeping,
		Work:  func(ctx context.Context, a runs.PurgeSimulation) error { return d.runner.Purge(ctx, a.SimulationID) },
	})
	d.jobs.Require(jobs.Need{
		Name: "simulations", Kinds: runs.JobKinds(), Member: "simulationId",
		List: s.waiting(projections.UnfinishedSimulations), Job: d.runner.Job,
	})
}

// studiesAtOnce is how many studies a process with workers runs at once. Their jobs are
// light and not fair by account, as their runs are: a fair job counts as a run, so that an
// account's studies could take the place of the runs that they wait for. The quota of
// studies keeps one account from taking all places.
const studiesAtOnce = 64

// registerStudies registers the jobs of studies.
func (s *base) registerStudies(d *domain) {
	jobs.Register(d.jobs, jobs.Kind[studies.RunStudy]{
		Queue: queueStudies,
		Work:  func(ctx context.Context, a studies.RunStudy) error { return d.studies.Run(ctx, a.StudyID) },
	})
	jobs.Register(d.jobs, jobs.Kind[studies.RemoveStudy]{
		Queue: queueHousekeeping,
		Work:  func(ctx context.Context, a studies.RemoveStudy) error { return d.studies.Remove(ctx, a.StudyID) },
	})
	d.jobs.Require(jobs.Need{
		Name: "studies", Kinds: []string{studies.RunStudy{}.Kind()}, Member: "studyId",
		List: s.waiting(projections.UnfinishedStudies),
		Job:  func(_ context.Context, id string) (jobs.Args, error) { return studies.RunStudy{StudyID: id}, nil },
	})
}

// room returns how many more runs the quotas of an account admit.
func (s *base) room(ctx context.Context, account string) (int64, error) {
	quotas, err := s.quotas(ctx)
	if err != nil {
		return 0, err
	}
	return quotas.Room(ctx, account)
}

// registerRun registers a kind of run. Accounts share the workers fairly, both for local
// and for remote runs.
func registerRun[A jobs.Args](d *domain, queue, short string, of func(A) (simulation string, weight runs.Weight)) {
	jobs.Register(d.jobs, jobs.Kind[A]{
		Queue: queue, Short: short, Attempts: runs.JobAttempts,
		Work: func(ctx context.Context, a A) error {
			id, _ := of(a)
			err := d.runner.Run(ctx, id)
			if errors.Is(err, runs.ErrYielded) {
				return jobs.ErrYielded
			}
			return err
		},
		Abandon: func(ctx context.Context, a A) error {
			id, _ := of(a)
			return d.runner.Abandon(ctx, id)
		},
		Share: func(_ context.Context, a A) (jobs.Share, error) {
			_, w := of(a)
			return jobs.Share{Account: w.Account, Cost: w.Cost, Batch: w.Study, Short: w.Short}, nil
		},
	})
}

// maxRuns returns how many runs of an account may run at once, nil for all workers but one.
// It reads the quotas each time, because runs start rarely, and workers do not follow changes
// of quotas.
func (s *base) maxRuns(ctx context.Context, account string) (*int64, error) {
	quotas, err := s.quotas(ctx)
	if err != nil {
		return nil, err
	}
	limit := quotas.Limit(account, commands.QuotaRunning)
	if limit == commands.AllWorkersButOne {
		return nil, nil
	}
	return &limit, nil
}

// maxWaiting bounds how many tracesets, and how many simulations, one reconciliation
// checks for a missing job. It checks the oldest.
const maxWaiting = 10_000

func (s *base) waiting(list func(context.Context, projections.Reader, int) ([]string, error)) func(context.Context) ([]string, error) {
	return func(ctx context.Context) ([]string, error) { return list(ctx, s.verified, maxWaiting) }
}

// dayBefore returns the UTC day before a time as YYYY-MM-DD.
func dayBefore(now time.Time) string { return now.UTC().AddDate(0, 0, -1).Format(time.DateOnly) }
