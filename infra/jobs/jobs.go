package jobs

import (
	"cmp"
	"context"
	"encoding/json"
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
	"go.opentelemetry.io/otel/trace"

	"netsim/infra/gather"
	"netsim/infra/wait"
)

// Schema is the schema of the queue's tables.
const Schema = "jobs"

// Config says where the queue is, and which jobs this process works on.
type Config struct {
	URL string // of PostgreSQL
	// Queues has the number of workers of this process for each queue, by the
	// queue's name. A process without queues only enqueues.
	Queues map[string]int
	Pool   func(*pgxpool.Config) // changes the settings of the queue's connections; nil changes none
	Log    *slog.Logger
	Now    func() time.Time
	Tracer trace.Tracer // nil traces nothing

	// Migrated leaves the tables as they are: Open returns an error that wraps
	// ErrNotMigrated if they are missing or older than this release needs.
	Migrated bool

	// MaxRunning returns how many jobs of fair kinds an account may have in progress;
	// nil for all workers of the queue but one. It is called whenever the next runs are
	// chosen. Without it, that is the limit of every account.
	MaxRunning func(ctx context.Context, account string) (*int64, error)

	// Poll is the time between two polls of a queue's workers, which find the jobs that no
	// notification named; 0 is pollEvery.
	Poll time.Duration
	// Reconcile is the time between two reconciliations.
	Reconcile time.Duration
	// Grace is the time that a worker has from fetching a job to locking it.
	Grace time.Duration
}

// Jobs is a connection to the queue, with the workers of this process.
type Jobs struct {
	config  Config
	pool    *pgxpool.Pool
	client  *river.Client[pgx.Tx]
	workers *river.Workers
	kinds   map[string]kind
	needs   []Need
	short   shortQueue
	choices gather.Gather[*step, struct{}] // of the next runs
}

// shortQueue is the queue of short runs, and that which they take while no process has workers
// for it; both "" if there is none.
type shortQueue struct{ queue, otherwise string }

// ErrNotMigrated means that tables are missing, or older than this release needs.
var ErrNotMigrated = errors.New("is missing or older than this release needs")

// Open connects to the queue and, unless Config.Migrated is set, migrates its tables.
// Processes that start at the same time migrate one after the other.
func Open(ctx context.Context, c Config) (*Jobs, error) {
	workers := 0
	for _, n := range c.Queues {
		workers += n
	}
	pool, err := openPool(ctx, c.URL, workers, c.Pool)
	if err != nil {
		return nil, err
	}
	j := &Jobs{config: c, pool: pool, workers: river.NewWorkers(), kinds: map[string]kind{}}
	j.choices.Query, j.choices.MaxQueries = j.choose, 1
	if err := j.open(ctx); err != nil {
		pool.Close()
		return nil, err
	}
	return j, nil
}

func (j *Jobs) open(ctx context.Context) error {
	driver := riverpgxv5.New(j.pool)
	prepare := j.migrate
	if j.config.Migrated {
		prepare = j.migrated
	}
	if err := prepare(ctx, driver); err != nil {
		return err
	}
	client, err := river.NewClient(driver, j.settings())
	if err != nil {
		return fmt.Errorf("open the job queue: %w", err)
	}
	j.client = client
	return nil
}

// Sessions is how many sessions of PostgreSQL the queue opens at most, beside one for each
// worker.
const Sessions = 6

// openPool opens a pool with the connections that river needs and one for the lock
// of each worker. Unlike read models, not all jobs can be rebuilt, so a commit waits
// for the disk.
func openPool(ctx context.Context, url string, workers int, option func(*pgxpool.Config)) (*pgxpool.Pool, error) {
	c, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("read the database's address: %w", err)
	}
	c.MaxConns = int32(workers) + Sessions
	c.ConnConfig.ConnectTimeout = 5 * time.Second
	c.ConnConfig.DescriptionCacheCapacity = 0 // as in postgres.Open
	for name, value := range map[string]string{
		"application_name": "netsim-jobs", "timezone": "UTC", "synchronous_commit": "on", "jit": "off", // as in postgres.New
		"tcp_keepalives_idle": "5", "tcp_keepalives_interval": "5", "tcp_keepalives_count": "2",
	} {
		c.ConnConfig.RuntimeParams[name] = value
	}
	if option != nil {
		option(c)
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
	defer conn.Exec(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock("+lock+")") //nolint:errcheck // the end of the session also releases the lock
	if _, err := conn.Exec(ctx, "CREATE SCHEMA IF NOT EXISTS "+Schema); err != nil {
		return fmt.Errorf("create the job queue's schema: %w", err)
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return fmt.Errorf("migrate the job queue: %w", err)
	}
	if _, err := conn.Exec(ctx, sharesSchema); err != nil {
		return fmt.Errorf("create the tables of shares and workers: %w", err)
	}
	return nil
}

// migrated returns an error that wraps ErrNotMigrated unless every migration is applied.
// It only reads.
func (j *Jobs) migrated(ctx context.Context, driver *riverpgxv5.Driver) error {
	migrator, err := rivermigrate.New(driver, &rivermigrate.Config{Schema: Schema, Logger: j.config.Log})
	if err != nil {
		return fmt.Errorf("read the job queue's migrations: %w", err)
	}
	var all bool
	if err := j.pool.QueryRow(ctx, `SELECT to_regclass('jobs.river_migration') IS NOT NULL AND to_regclass('jobs.run_workers') IS NOT NULL`).Scan(&all); err != nil {
		return fmt.Errorf("look for the tables of the job queue: %w", err)
	}
	if all {
		result, err := migrator.Validate(ctx, nil)
		if err != nil {
			return fmt.Errorf("read which migrations of the job queue are applied: %w", err)
		}
		all = result.OK
	}
	if !all {
		return fmt.Errorf("the schema %s of PostgreSQL %w", Schema, ErrNotMigrated)
	}
	return nil
}

// settings returns river's configuration. It has no job timeout: the locks decide
// whether a worker is alive (see the package's documentation).
func (j *Jobs) settings() *river.Config {
	c := &river.Config{Schema: Schema, Logger: slog.New(withoutCanceled{j.config.Log.Handler()}), JobTimeout: -1,
		FetchCooldown: 20 * time.Millisecond, FetchPollInterval: cmp.Or(j.config.Poll, pollEvery)}
	if j.config.Tracer != nil {
		c.Middleware = []rivertype.Middleware{&traces{tracer: j.config.Tracer}}
	}
	if len(j.config.Queues) == 0 {
		return c
	}
	c.Workers, c.Queues = j.workers, map[string]river.QueueConfig{}
	for queue, n := range j.config.Queues {
		c.Queues[queue] = river.QueueConfig{MaxWorkers: n}
	}
	return c
}

// Enqueue adds a job, unless an equal one has not ended yet. A job of a fair kind
// starts when it is its account's turn (fair.go).
func (j *Jobs) Enqueue(ctx context.Context, args Args) error {
	options, err := j.options(ctx, args)
	if err != nil {
		return err
	}
	if options.Pending {
		return j.chooseNext(ctx, &step{ctx: ctx, args: args, options: options})
	}
	err = pgx.BeginFunc(ctx, j.pool, func(tx pgx.Tx) error {
		if _, err := j.client.InsertTx(ctx, tx, args, options); err != nil {
			return err
		}
		return notify(ctx, tx, options.Queue)
	})
	if err != nil {
		return fmt.Errorf("enqueue %s: %w", args.Kind(), err)
	}
	return nil
}

// Cancel cancels the jobs with these arguments that wait for a worker. Jobs in
// progress continue.
func (j *Jobs) Cancel(ctx context.Context, all ...Args) error {
	for _, args := range all {
		text, err := json.Marshal(args)
		if err != nil {
			return fmt.Errorf("encode %s: %w", args.Kind(), err)
		}
		if _, err := j.pool.Exec(ctx, `
			UPDATE jobs.river_job SET state = 'cancelled', finalized_at = now()
			WHERE kind = $1 AND args @> $2 AND state IN ('pending', 'available', 'scheduled', 'retryable')`, args.Kind(), text); err != nil {
			return fmt.Errorf("cancel %s: %w", args.Kind(), err)
		}
	}
	return j.chooseNext(ctx, nil)
}

// Work works on jobs until ctx ends, and returns when the jobs in progress have
// stopped. If the workers cannot start because the database does not answer, Work
// starts them again. Without queues it only waits for ctx.
func (j *Jobs) Work(ctx context.Context) error {
	if len(j.config.Queues) == 0 {
		<-ctx.Done()
		return nil
	}
	if !j.start(ctx) {
		return nil
	}
	wakes := make(chan struct{})
	go func() {
		defer close(wakes)
		j.wakeUntil(ctx)
	}()
	j.reconcileUntil(ctx)
	<-wakes
	j.leave(ctx)
	defer j.handOver(ctx)
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if err := j.client.StopAndCancel(stopping); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("stop the workers: %w", err)
	}
	return nil
}

// start starts the workers, and retries until it succeeds. It returns false if ctx
// ends first.
func (j *Jobs) start(ctx context.Context) bool {
	for pauses := wait.Doubling(50*time.Millisecond, 5*time.Second); ; {
		err := j.client.Start(ctx)
		if ctx.Err() != nil {
			return err == nil
		}
		if err == nil {
			return true
		}
		pause := pauses.NextBackOff()
		j.config.Log.WarnContext(ctx, "the workers could not be started; trying again", "error", err, "after", pause)
		if wait.For(ctx, pause) != nil {
			return false
		}
	}
}

// stopTimeout bounds how long jobs in progress may take to stop. A job that has not
// stopped by then loses its lock with the process.
const stopTimeout = 8 * time.Second

// Close disconnects. Work must have returned.
func (j *Jobs) Close() { j.pool.Close() }

// Attended reports whether any process works on the queue. It stays true for up to
// 15 seconds after the last such process was killed, until river's leadership ends.
func (j *Jobs) Attended(ctx context.Context) (bool, error) {
	var attended bool
	err := j.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM jobs.river_leader WHERE expires_at > now())`).Scan(&attended)
	if err != nil {
		return false, fmt.Errorf("check for workers: %w", err)
	}
	return attended, nil
}

// openStates returns the states of a job that has not ended.
func openStates() []rivertype.JobState {
	return []rivertype.JobState{
		rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable,
		rivertype.JobStateRunning, rivertype.JobStateScheduled,
	}
}
