package projector

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/events"
	"netsim/infra/columns"
	"netsim/infra/eventlog"
	"netsim/infra/facts"
	"netsim/infra/wait"
)

//go:embed schema.sql
var schemaSQL string

// Live is the schema of the read model that serves reads.
const Live = "readmodel"

// Projection is a part of a read model: it owns its tables, whose rows are a function
// of the facts alone, however these are batched.
type Projection interface {
	// Schema returns the statements that make its tables.
	Schema() string
	// Load queues the reads that Apply needs for the facts.
	Load(reads *pgx.Batch, facts []events.Fact)
	// Apply folds the facts, which are in log order within a partition, and
	// queues its writes.
	Apply(writes *columns.Writes, facts []events.Fact) error
	// Forget drops what is cached, because another process may have written.
	Forget()
}

// Cache is a projection that keeps rows in memory between batches.
type Cache interface {
	Cached() (rows, bytes int)
}

// State is a stream's write state, which decisions are made on.
type State interface{ Evolve(events.Event) }

// Log is what the projector needs of the event log.
type Log interface {
	Follow(ctx context.Context, topic string, partition int32, from int64, maxBytes int, wait time.Duration) ([]events.Record, int64, error)
	Read(ctx context.Context, topic string, partition int32, from int64, maxBytes int, wait time.Duration) ([]events.Record, int64, error)
	Describe(ctx context.Context) (eventlog.Description, error)
}

// Config is what a projector works on.
type Config struct {
	Pool        *pgxpool.Pool
	Log         Log
	Schema      string // of the read model; "" is the one that this release serves (serving.go)
	ReadState   func(stream string, stored []byte) (State, error)
	Decode      func(eventType string, value []byte) (events.Data, error) // nil is events.Decode
	Keys        *events.WriterKeys                                        // that verify seals; nil verifies none, and refuses a log that demands them
	Projections []Projection
	Logger      *slog.Logger
	BatchSize   int                                   // records a transaction; 0 is 8,192
	CopyFrom    int                                   // see columns.Writes
	Renew       bool                                  // Create drops a read model of another release instead of refusing it
	Witness     Witness                               // of the log's ends; nil for none
	Leases      *facts.Leases                         // of the shards of the read model; nil projects all shards
	Watcher     *Watcher                              // of this process, which learns of a commit at once; nil for none
	Yield       bool                                  // Run releases the lock to a process that waits for it
	Observe     func(records int, took time.Duration) // called for every committed batch; nil for none
	Level       func() int                            // of the deployment; nil for the first
	Raise       Raise                                 // of the deployment's level; nil for never
}

// Projector keeps one read model. Run may be called once.
type Projector struct {
	Config
	streams streamCache
	cached  int                     // bytes of the streams' states
	counts  map[events.Family]int32 // partitions, by family
	until   Position                // where projecting ends; nil for never
	held    []facts.Lease           // of this session
	raised  int                     // the level that this session has stored; 0 for none
	stats   Stats
	schema  string // in which the session found the read model that it serves
	channel string // of the session's notifications

	// fingerprint returns the digest of the statements, which is made once: a running projector
	// compares it at every tick of watchEvery.
	fingerprint func() string
}

// New returns a projector.
func New(c Config) *Projector {
	if c.Decode == nil {
		c.Decode = events.Decode
	}
	if c.Observe == nil {
		c.Observe = func(int, time.Duration) {}
	}
	if c.Level == nil {
		c.Level = func() int { return events.FirstLevel }
	}
	if c.BatchSize == 0 {
		c.BatchSize = 8192
	}
	p := &Projector{Config: c, streams: streamCache{}}
	p.fingerprint = sync.OnceValue(p.digest)
	return p
}

// Create makes the read model's schema and tables when they are not there. Those of
// another release it refuses with ErrOtherSchema, or replaces under Renew. Those of a newer
// level it refuses with ErrNewerLevel. When it makes the live one and the log is empty, the
// deployment is new, and begins at the level of this release.
func (p *Projector) Create(ctx context.Context) error {
	tables, indexes := p.ddl()
	return p.define(ctx, tables+"\n"+strings.Join(indexes, "\n"))
}

func (p *Projector) define(ctx context.Context, ddl string) error {
	return pgx.BeginFunc(ctx, p.Pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtext($1))", "create "+p.name()); err != nil {
			return fmt.Errorf("lock the schema: %w", err)
		}
		exists, err := p.check(ctx, tx)
		if p.Renew && errors.Is(err, ErrOtherSchema) {
			p.Logger.WarnContext(ctx, "the read model of another release is dropped and rebuilt", "reason", err)
			_, err = tx.Exec(ctx, "DROP SCHEMA "+p.ident()+" CASCADE")
			exists = false
		}
		if err != nil || exists {
			return err
		}
		level, err := p.begin(ctx, tx)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, fmt.Sprintf("CREATE SCHEMA %[1]s; COMMENT ON SCHEMA %[1]s IS '%[2]s'; SET LOCAL search_path = %[1]s; %[3]s",
			p.ident(), Marked(p.fingerprint(), level), ddl))
		if err != nil {
			return fmt.Errorf("create the tables of %s: %w", p.name(), err)
		}
		return nil
	})
}

// ErrOtherLog is wrapped by the errors about a log that is not the one that the
// read model was built from, or that lost facts.
var ErrOtherLog = errors.New("the event log cannot be trusted")

// Run projects until ctx ends, and then returns nil. It returns an error that wraps
// ErrOtherLog, ErrOtherSchema or ErrNewerLevel, and starts again after any other.
//
// It projects the shards that are leased to this process; without Config.Leases all
// of them, while it holds the read model's lock.
func (p *Projector) Run(ctx context.Context) error {
	if p.Leases == nil {
		return p.repeat(ctx, p.projectLocked)
	}
	return p.projectLeased(ctx)
}

// projectLeased projects the shards that are leased to this process, until ctx ends.
func (p *Projector) projectLeased(ctx context.Context) error {
	return p.Leases.Run(ctx, func(ctx context.Context, held []facts.Lease) error {
		p.held = held
		return p.repeat(ctx, p.project)
	})
}

// repeat runs sessions until ctx ends or one fails for good.
func (p *Projector) repeat(ctx context.Context, session func(context.Context) error) error {
	for pauses := wait.Doubling(50*time.Millisecond, 2*time.Second); ; {
		err := session(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, ErrOtherLog), isOtherRelease(err):
			return err
		case errors.Is(err, errYield), errors.Is(err, errRetry):
			pauses.Reset()
			continue
		}
		p.Logger.WarnContext(ctx, "projecting failed and starts again", "error", err)
		if wait.For(ctx, pauses.NextBackOff()) != nil {
			return nil
		}
	}
}

// projectLocked projects while this process holds the lock.
func (p *Projector) projectLocked(ctx context.Context) error {
	lock, err := p.pollLock(ctx)
	if err != nil {
		return err
	}
	defer lock.release(ctx)
	return p.project(ctx)
}
