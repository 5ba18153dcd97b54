package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"

	"netsim/internal/wait"
)

// Schema is that of the queue's tables.
const Schema = "jobs"

// Config says where the queue is and what its kinds of work do. Each function
// may be called again for work that it has done or that was interrupted.
type Config struct {
	URL     string // of PostgreSQL
	Workers int    // jobs at a time in this process; 0 only enqueues
	Follow  int    // beside them, runs at remote engines that are looked after at a time; 0 is 16
	Log     *slog.Logger
	Now     func() time.Time

	// Run runs a simulation. The context ends when the process is to stop or
	// the work has passed to another worker; then it returns soon.
	Run func(ctx context.Context, simulation string) error
	// Abandon fails a simulation whose Run has ended with an error too often.
	Abandon func(ctx context.Context, simulation string) error
	// Weigh tells whose a simulation's run is and what it is estimated to cost
	// beside others, at least 1; nil has all runs alike.
	Weigh func(ctx context.Context, simulation string) (account string, cost int64, err error)
	// MaxRuns is how many runs an account may have in progress; nil bounds none.
	// It is asked whenever it is decided which runs are next.
	MaxRuns func(ctx context.Context, account string) (int64, error)
	// Elsewhere tells whether a simulation runs at a remote engine, so that Run
	// only looks after it; nil when none does.
	Elsewhere func(ctx context.Context, simulation string) (bool, error)
	// Purge removes what a deleted simulation left behind.
	Purge func(ctx context.Context, simulation string) error
	// Extract reads what the files of a traceset hold.
	Extract func(ctx context.Context, traceset string) error
	// Accrue rates the costs of a day that has ended, YYYY-MM-DD.
	Accrue func(ctx context.Context, day string) error
	// Checkpoint signs and publishes what the log holds, under the name of a day
	// that has ended, YYYY-MM-DD; nil publishes nothing.
	Checkpoint func(ctx context.Context, day string) error
	// ClearUpload removes what is staged of an upload that has ended.
	ClearUpload func(ctx context.Context, upload string) error
	// ExpireUploads ends the uploads that have expired.
	ExpireUploads func(ctx context.Context) error
	// SweepTracesets deletes the tracesets that have expired, and what is stored
	// of those that are deleted.
	SweepTracesets func(ctx context.Context) error
	// ReleaseHolds frees the credit that is set aside for too long.
	ReleaseHolds func(ctx context.Context) error
	// Unfinished lists the simulations that are to run.
	Unfinished func(ctx context.Context) ([]string, error)
	// Processing lists the tracesets that are to be extracted.
	Processing func(ctx context.Context) ([]string, error)

	// Reconcile is the time between two reconciliations, 0 for 5 s.
	Reconcile time.Duration
	// Grace is the time that a worker has from fetching a job to locking it, 0
	// for 5 s.
	Grace time.Duration
}

// Jobs is the queue, and in a process with workers those too.
type Jobs struct {
	config Config
	pool   *pgxpool.Pool
	client *river.Client[pgx.Tx]
}

// Open connects to the queue and brings its tables up to date. Processes that
// start together wait for each other.
func Open(ctx context.Context, c Config) (*Jobs, error) {
	if c.Follow == 0 {
		c.Follow = 16
	}
	if c.Reconcile == 0 {
		c.Reconcile = 5 * time.Second
	}
	if c.Grace == 0 {
		c.Grace = 5 * time.Second
	}
	pool, err := openPool(ctx, c.URL, c.Workers+c.Follow)
	if err != nil {
		return nil, err
	}
	j := &Jobs{config: c, pool: pool}
	if err := j.open(ctx); err != nil {
		pool.Close()
		return nil, err
	}
	return j, nil
}

func (j *Jobs) open(ctx context.Context) error {
	driver := riverpgxv5.New(j.pool)
	if err := j.migrate(ctx, driver); err != nil {
		return err
	}
	client, err := river.NewClient(driver, j.settings())
	if err != nil {
		return fmt.Errorf("open the job queue: %w", err)
	}
	j.client = client
	return nil
}

// openPool has one session for each worker's lock beside those that river
// needs. Unlike read models, jobs cannot all be derived again, so a commit
// waits for the disk.
func openPool(ctx context.Context, url string, workers int) (*pgxpool.Pool, error) {
	c, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("read the database's address: %w", err)
	}
	c.MaxConns = int32(workers) + extractions + 6
	c.ConnConfig.ConnectTimeout = 5 * time.Second
	for name, value := range map[string]string{
		"application_name": "netsim-jobs", "timezone": "UTC", "synchronous_commit": "on",
		"tcp_keepalives_idle": "5", "tcp_keepalives_interval": "5", "tcp_keepalives_count": "2",
	} {
		c.ConnConfig.RuntimeParams[name] = value
	}
	pool, err := pgxpool.NewWithConfig(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("open the job queue's database: %w", err)
	}
	return pool, nil
}

func (j *Jobs) migrate(ctx context.Context, driver *riverpgxv5.Driver) error {
	migrator, err := rivermigrate.New(driver, &rivermigrate.Config{Schema: Schema, Logger: j.config.Log})
	if err != nil {
		return fmt.Errorf("read the job queue's migrations: %w", err)
	}
	conn, err := j.pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("connect to migrate the job queue: %w", err)
	}
	defer conn.Release()
	const lock = "hashtext('migrate " + Schema + "')"
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock("+lock+")"); err != nil {
		return fmt.Errorf("lock the job queue's migrations: %w", err)
	}
	defer conn.Exec(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock("+lock+")") //nolint:errcheck // the session's end releases it too
	if _, err := conn.Exec(ctx, "CREATE SCHEMA IF NOT EXISTS "+Schema); err != nil {
		return fmt.Errorf("create the job queue's schema: %w", err)
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return fmt.Errorf("migrate the job queue: %w", err)
	}
	if _, err := conn.Exec(ctx, sharesSchema); err != nil {
		return fmt.Errorf("create the table of shares: %w", err)
	}
	return nil
}

// settings of river: everything that it would decide by time is left to the
// locks (see the package's documentation).
func (j *Jobs) settings() *river.Config {
	c := &river.Config{Schema: Schema, Logger: j.config.Log, JobTimeout: -1, FetchCooldown: 20 * time.Millisecond}
	if j.config.Workers == 0 {
		return c
	}
	c.Queues = map[string]river.QueueConfig{
		river.QueueDefault: {MaxWorkers: j.config.Workers},
		queueHousekeeping:  {MaxWorkers: 1},
		queueExtraction:    {MaxWorkers: extractions},
		queueFollowing:     {MaxWorkers: j.config.Follow},
	}
	c.Workers = river.NewWorkers()
	river.AddWorker(c.Workers, &worker[RunSimulation]{jobs: j, work: func(ctx context.Context, a RunSimulation) error {
		return j.config.Run(ctx, a.SimulationID)
	}, abandon: func(ctx context.Context, a RunSimulation) error {
		return j.config.Abandon(ctx, a.SimulationID)
	}})
	river.AddWorker(c.Workers, &worker[FollowSimulation]{jobs: j, work: func(ctx context.Context, a FollowSimulation) error {
		return j.config.Run(ctx, a.SimulationID)
	}, abandon: func(ctx context.Context, a FollowSimulation) error {
		return j.config.Abandon(ctx, a.SimulationID)
	}})
	river.AddWorker(c.Workers, &worker[PurgeSimulation]{jobs: j, work: func(ctx context.Context, a PurgeSimulation) error {
		return j.config.Purge(ctx, a.SimulationID)
	}})
	river.AddWorker(c.Workers, &worker[ExtractTraceset]{jobs: j, work: func(ctx context.Context, a ExtractTraceset) error {
		return j.config.Extract(ctx, a.TracesetID)
	}})
	river.AddWorker(c.Workers, &worker[AccrueDay]{jobs: j, work: func(ctx context.Context, a AccrueDay) error {
		return j.config.Accrue(ctx, a.Date)
	}})
	river.AddWorker(c.Workers, &worker[PublishCheckpoint]{jobs: j, work: func(ctx context.Context, a PublishCheckpoint) error {
		return j.config.Checkpoint(ctx, a.Date)
	}})
	river.AddWorker(c.Workers, &worker[ClearUpload]{jobs: j, work: func(ctx context.Context, a ClearUpload) error {
		return j.config.ClearUpload(ctx, a.UploadID)
	}})
	river.AddWorker(c.Workers, &worker[ExpireUploads]{jobs: j, work: func(ctx context.Context, _ ExpireUploads) error {
		return j.config.ExpireUploads(ctx)
	}})
	river.AddWorker(c.Workers, &worker[SweepTracesets]{jobs: j, work: func(ctx context.Context, _ SweepTracesets) error {
		return j.config.SweepTracesets(ctx)
	}})
	river.AddWorker(c.Workers, &worker[ReleaseHolds]{jobs: j, work: func(ctx context.Context, _ ReleaseHolds) error {
		return j.config.ReleaseHolds(ctx)
	}})
	atStart := &river.PeriodicJobOpts{RunOnStart: true}
	c.PeriodicJobs = []*river.PeriodicJob{
		river.NewPeriodicJob(daily{}, func() (river.JobArgs, *river.InsertOpts) {
			return AccrueDay{Date: yesterday(j.config.Now())}, nil
		}, atStart),
		river.NewPeriodicJob(river.PeriodicInterval(expireEvery), func() (river.JobArgs, *river.InsertOpts) {
			return ExpireUploads{}, nil
		}, atStart),
		river.NewPeriodicJob(river.PeriodicInterval(expireEvery), func() (river.JobArgs, *river.InsertOpts) {
			return ReleaseHolds{}, nil
		}, atStart),
		river.NewPeriodicJob(river.PeriodicInterval(time.Hour), func() (river.JobArgs, *river.InsertOpts) {
			return SweepTracesets{}, nil
		}, atStart),
	}
	if j.config.Checkpoint != nil {
		c.PeriodicJobs = append(c.PeriodicJobs, river.NewPeriodicJob(daily{}, func() (river.JobArgs, *river.InsertOpts) {
			return PublishCheckpoint{Date: yesterday(j.config.Now())}, nil
		}, atStart))
	}
	return c
}

// EnqueueExtraction has the files of a traceset read.
func (j *Jobs) EnqueueExtraction(ctx context.Context, traceset string) error {
	return j.enqueue(ctx, ExtractTraceset{TracesetID: traceset})
}

// expireEvery is how often uploads and holds are ended that have expired.
const expireEvery = 5 * time.Minute

// EnqueueClear has removed what is staged of an upload that has ended.
func (j *Jobs) EnqueueClear(ctx context.Context, upload string) error {
	return j.enqueue(ctx, ClearUpload{UploadID: upload})
}

// EnqueueAccrual has a day's costs rated, YYYY-MM-DD.
func (j *Jobs) EnqueueAccrual(ctx context.Context, day string) error {
	return j.enqueue(ctx, AccrueDay{Date: day})
}

func (j *Jobs) enqueue(ctx context.Context, args river.JobArgs) error {
	if _, err := j.client.Insert(ctx, args, nil); err != nil {
		return fmt.Errorf("enqueue %s: %w", args.Kind(), err)
	}
	return nil
}

// Work works until ctx ends, and returns when the work in progress has
// stopped. Workers that cannot start, because the database does not answer, are
// started again. Without workers it does nothing.
func (j *Jobs) Work(ctx context.Context) error {
	if j.config.Workers == 0 {
		<-ctx.Done()
		return nil
	}
	if !j.start(ctx) {
		return nil
	}
	j.reconcileUntil(ctx)
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if err := j.client.StopAndCancel(stopping); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("stop the workers: %w", err)
	}
	return nil
}

// longestPause is between two starts of workers that could not start.
const longestPause = 5 * time.Second

// start starts the workers, and reports false when ctx ends before they have
// started. Its end also ends a start that hangs.
func (j *Jobs) start(ctx context.Context) bool {
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, longestPause) {
		err := j.client.Start(ctx)
		if ctx.Err() != nil {
			return err == nil
		}
		if err == nil {
			return true
		}
		j.config.Log.WarnContext(ctx, "the workers could not start and are started again", "error", err, "after", pause)
		if wait.For(ctx, pause) != nil {
			return false
		}
	}
}

// stopTimeout bounds how long work in progress may take to notice that it is
// to stop. What has not stopped by then loses its lock with the process.
const stopTimeout = 8 * time.Second

// Close disconnects. Work must have returned.
func (j *Jobs) Close() { j.pool.Close() }

// Attended reports whether a process works on the queue: one of them holds
// river's leadership, which ends 15 seconds after the last of them was killed.
func (j *Jobs) Attended(ctx context.Context) (bool, error) {
	var attended bool
	err := j.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM jobs.river_leader WHERE expires_at > now())`).Scan(&attended)
	if err != nil {
		return false, fmt.Errorf("ask who works on the jobs: %w", err)
	}
	return attended, nil
}

// Counts returns how many jobs of each kind and state there are, by
// "kind/state".
func (j *Jobs) Counts(ctx context.Context) (map[string]int64, error) {
	rows, err := j.pool.Query(ctx, `SELECT kind || '/' || state::text, count(*) FROM jobs.river_job GROUP BY kind, state`)
	if err != nil {
		return nil, fmt.Errorf("count the jobs: %w", err)
	}
	counts := map[string]int64{}
	var name string
	var n int64
	_, err = pgx.ForEachRow(rows, []any{&name, &n}, func() error {
		counts[name] = n
		return nil
	})
	return counts, err
}

// open states are those of a job that is still to be done.
func openStates() []rivertype.JobState {
	return []rivertype.JobState{
		rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable,
		rivertype.JobStateRunning, rivertype.JobStateScheduled,
	}
}
