// Package writelog is the log as commands use it: it loads the head and state of
// a stream from the read model, appends through the event log, and waits for the
// projector's verdict. It refuses writes while too many wait for a verdict, so
// that a slow projector does not exhaust the memory.
package writelog

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.opentelemetry.io/otel/attribute"

	"netsim/events"
	"netsim/fault"
	"netsim/infra/eventlog"
	"netsim/infra/gather"
	"netsim/infra/projector"
	"netsim/infra/telemetry"
	"netsim/infra/wait"
)

// Config is what a write log needs.
type Config struct {
	Pool     *pgxpool.Pool
	EventLog *eventlog.Kafka
	Watcher  *projector.Watcher
	// Partitions is the number of partitions of each family's topic, from
	// LoadPartitions.
	Partitions map[events.Family]int32
	// Refuse, when set, refuses every append, because the deployment only reads.
	Refuse error
	// MaxWaiting is how many writes may wait for their verdict at once,
	// 0 for 50,000. Beyond that, writes are refused.
	MaxWaiting int64
}

// Log implements handle.Log.
type Log struct {
	Config
	loads   gather.Gather[loadKey, events.Snapshot]
	waiting atomic.Int64
}

// New returns a write log.
func New(c Config) *Log {
	l := &Log{Config: c}
	l.loads.Query = l.load
	return l
}

const defaultWaiting = 50_000

// Append implements handle.Log.
func (l *Log) Append(ctx context.Context, family events.Family, partitionKey string, m events.Message) (func(context.Context) (events.Position, error), error) {
	if l.Refuse != nil {
		return nil, l.Refuse
	}
	limit := l.MaxWaiting
	if limit == 0 {
		limit = defaultWaiting
	}
	if l.waiting.Load() >= limit {
		return nil, shed("too many writes wait for their verdict")
	}
	if l.EventLog.Throttled() > 0 {
		return nil, shed("the event log asks for a pause")
	}
	count := l.Partitions[family]
	if count == 0 {
		return nil, fmt.Errorf("family %s has no partitions", family)
	}
	partition := events.PartitionOf(partitionKey, count)
	topic := l.EventLog.Topic(family)
	span := l.sending(ctx, topic, partition, &m)
	pending := l.EventLog.Append(topic, partition, m)
	return func(ctx context.Context) (events.Position, error) {
		offset, err := pending.Wait(ctx)
		telemetry.End(span, err)
		return events.Position{Family: family, Partition: partition, Offset: offset}, err
	}, nil
}

// Verdict implements handle.Log.
func (l *Log) Verdict(ctx context.Context, at events.Position) (events.Verdict, error) {
	l.waiting.Add(1)
	defer l.waiting.Add(-1)
	if !telemetry.Traced(ctx) {
		return l.Watcher.Verdict(ctx, at)
	}
	ctx, span := l.judging(ctx, at)
	verdict, err := l.Watcher.Verdict(ctx, at)
	span.SetAttributes(attribute.String("netsim.verdict", string(verdict)))
	telemetry.End(span, err)
	return verdict, err
}

func shed(why string) error {
	return &fault.Fault{Code: fault.Unavailable, Message: why, RetryAfter: time.Second}
}

// LoadPartitions waits until the projector has stored the partitions of the log,
// and returns how many each family has.
func LoadPartitions(ctx context.Context, pool *pgxpool.Pool) (map[events.Family]int32, error) {
	for {
		counts := map[events.Family]int32{}
		rows, err := pool.Query(ctx, `SELECT family, count(*)::int FROM offsets GROUP BY family`)
		if err != nil {
			return nil, fmt.Errorf("load the partitions: %w", err)
		}
		var family events.Family
		var count int32
		if _, err := pgx.ForEachRow(rows, []any{&family, &count}, func() error {
			counts[family] = count
			return nil
		}); err != nil {
			return nil, fmt.Errorf("load the partitions: %w", err)
		}
		if len(counts) > 0 {
			return counts, nil
		}
		if err := wait.For(ctx, 20*time.Millisecond); err != nil {
			return nil, fmt.Errorf("the projector has not adopted a log: %w", err)
		}
	}
}
