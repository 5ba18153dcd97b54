package lake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/infra/facts"
	"netsim/infra/objects"
	"netsim/infra/wait"
	"netsim/stream/tables"
)

// Subscriber is the name of the lake's leases.
const Subscriber = "lake"

// Folder is the folder of the lake's files in the bucket.
const Folder = "lake/"

// Objects is the store of the files. objects.Store implements it.
type Objects interface {
	Create(ctx context.Context, key, contentType string) *objects.Upload
	Get(ctx context.Context, key string) (io.ReadCloser, objects.Info, error)
	Delete(ctx context.Context, key string) error
}

// Facts reads facts. facts.Reader implements it.
type Facts interface {
	Next(ctx context.Context, family events.Family, partition int32, from int64) (facts.Batch, error)
}

// Log is the log. eventlog.Kafka implements it.
type Log interface {
	eventlog.RecordReader
	Describe(ctx context.Context) (eventlog.Description, error)
}

// Leases gives one process the lake. facts.Leases with one shard implements it.
type Leases interface {
	Run(ctx context.Context, work func(ctx context.Context, held []facts.Lease) error) error
}

// Config has the settings and the parts of a Lake.
type Config struct {
	Pool       *pgxpool.Pool
	Objects    Objects
	Bucket     string // of Objects
	Facts      Facts
	EventLog   Log                                               // of the facts
	Judged     func(family events.Family, partition int32) int64 // the first offset that is not judged
	Leases     Leases
	Partitions map[events.Family]int32

	Every       time.Duration // between commits while there are facts
	Bytes       int64         // of facts in a file, from which it is committed earlier
	MergeAfter  time.Duration // how long after its end an hour is merged
	DeleteAfter time.Duration // how long a file lives that no snapshot needs

	Now func() time.Time
	Log *slog.Logger
}

// Lake writes the lake. Only one process writes at a time.
type Lake struct {
	Config
	committing sync.Mutex // a process commits one snapshot at a time
	report     reporter
	hook       func(step string) error // for tests: what happens at a step of the protocol
	tables     []*tables.Table
}

// New returns a Lake.
func New(c Config) *Lake {
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Lake{Config: c, hook: func(string) error { return nil }, tables: tables.All()}
}

// The pauses after a failure.
const (
	retryFirst = time.Second
	retryMost  = 30 * time.Second
)

// Run writes the lake while this process has the lease, until ctx ends. A failure,
// such as that of the object store, is logged once, and the work begins again from the
// committed positions after a pause.
func (l *Lake) Run(ctx context.Context) error {
	return l.Leases.Run(ctx, func(ctx context.Context, held []facts.Lease) error {
		defer l.report.release()
		pauses, failing := wait.Doubling(retryFirst, retryMost), false
		for ctx.Err() == nil {
			began := l.report.committed()
			err := l.write(ctx, held[0].Epoch)
			if ctx.Err() != nil {
				return nil
			}
			l.report.fail(l.Now(), err)
			if l.report.committed() > began {
				pauses.Reset()
				failing = false
			}
			if !failing {
				l.Log.WarnContext(ctx, "the lake could not be written; it is tried again", "error", err)
				failing = true
			}
			wait.For(ctx, pauses.NextBackOff()) //nolint:errcheck // the loop checks the context
		}
		return nil
	})
}

// errLost means that another writer has the lease, or has moved the positions.
var errLost = errors.New("the lease of the lake is lost, or another writer has moved its positions")

// key returns the key in the bucket of a path relative to the data path.
func (l *Lake) key(dataPath, path string) (string, error) {
	prefix := "s3://" + l.Bucket + "/"
	key, ours := strings.CutPrefix(dataPath+path, prefix)
	if !ours || !strings.HasPrefix(key, Folder) || strings.Contains(path, "..") {
		return "", fmt.Errorf("the lake's file %s%s is not in %s%s", dataPath, path, prefix, Folder)
	}
	return key, nil
}
