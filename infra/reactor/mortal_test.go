package reactor_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"netsim/commands/handle"
	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/infra/projector"
	"netsim/infra/writelog"
)

// life is what one process does until it is killed. A dead process does nothing
// more: each of its goroutines stops at the next point until the test ends.
type life struct {
	t    *testing.T
	kill kill

	mu    sync.Mutex
	dead  chan struct{} // closed when it is killed
	tries map[string]int
}

func (l *life) at(point string) {
	l.mu.Lock()
	if point == l.kill.point {
		if l.kill.nth--; l.kill.nth == 0 {
			close(l.dead)
		}
	}
	l.mu.Unlock()
	select {
	case <-l.dead:
		<-l.t.Context().Done()
	default:
	}
}

// mortalLog is the event log of a reactor and its reader.
type mortalLog struct {
	*eventlog.Kafka
	*life
}

func (m mortalLog) Recall(ctx context.Context, topic string, partition int32, from int64, maxBytes int, wait time.Duration) ([]events.Record, int64, error) {
	m.at("records requested")
	records, high, err := m.Kafka.Recall(ctx, topic, partition, from, maxBytes, wait)
	m.at("records received")
	return records, high, err
}

func (m mortalLog) GroupOffsets(ctx context.Context, group, topic string, partitions int32) ([]eventlog.GroupOffset, error) {
	m.at("committed positions requested")
	found, err := m.Kafka.GroupOffsets(ctx, group, topic, partitions)
	m.at("committed positions received")
	return found, err
}

func (m mortalLog) CommitGroup(ctx context.Context, group, topic string, offsets map[int32]eventlog.GroupOffset) error {
	m.at("positions sent")
	err := m.Kafka.CommitGroup(ctx, group, topic, offsets)
	m.at("positions committed")
	return err
}

// mortalVerdicts are the verdicts for a reactor and its reader.
type mortalVerdicts struct {
	*projector.Watcher
	*life
}

func (m mortalVerdicts) Changes(families ...events.Family) (<-chan struct{}, func()) {
	m.at("verdicts awaited")
	return m.Watcher.Changes(families...)
}

func (m mortalVerdicts) Rejected(ctx context.Context, family events.Family, partition int32, from, to int64) (map[int64]events.Verdict, error) {
	m.at("rejections requested")
	found, err := m.Watcher.Rejected(ctx, family, partition, from, to)
	m.at("rejections received")
	return found, err
}

func (m mortalVerdicts) Verdict(ctx context.Context, at events.Position) (events.Verdict, error) {
	m.at("read model probed before dead letter")
	verdict, err := m.Watcher.Verdict(ctx, at)
	m.at("read model answers before dead letter")
	return verdict, err
}

// mortalWrites is the log of a handler's commands.
type mortalWrites struct {
	*writelog.Log
	*life
}

func (m mortalWrites) Load(ctx context.Context, stream, commandID string) (events.Snapshot, error) {
	m.at("command loads")
	s, err := m.Log.Load(ctx, stream, commandID)
	m.at("command loaded")
	return s, err
}

func (m mortalWrites) Append(ctx context.Context, family events.Family, key string, message events.Message) (handle.Wait, error) {
	m.at("command appends")
	return m.Log.Append(ctx, family, key, message)
}

func (m mortalWrites) Verdict(ctx context.Context, at events.Position) (events.Verdict, error) {
	m.at("command appended")
	verdict, err := m.Log.Verdict(ctx, at)
	m.at("command judged")
	return verdict, err
}
