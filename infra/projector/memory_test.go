package projector_test

import (
	"context"
	"testing"
	"time"

	"netsim/events"
	"netsim/infra/eventlog"
)

// memoryLog is an event log in memory, as a projector sees it.
type memoryLog struct {
	topics  map[string][][]events.Record
	about   eventlog.Description
	records int
}

func newMemoryLog(partitions int) *memoryLog {
	log := &memoryLog{topics: map[string][][]events.Record{}, about: eventlog.Description{ClusterID: "memory"}}
	for _, family := range events.Families() {
		name := string(family)
		log.topics[name] = make([][]events.Record, partitions)
		log.about.Topics = append(log.about.Topics, eventlog.Topic{
			Family: family, Name: name, ID: name, Partitions: make([]eventlog.Partition, partitions),
		})
	}
	return log
}

func (l *memoryLog) append(b testing.TB, key string, m events.Message) {
	b.Helper()
	family, err := events.FamilyOf(string(m.Key))
	if err != nil {
		b.Fatal(err)
	}
	l.records++
	partitions := l.topics[string(family)]
	at := events.PartitionOf(key, int32(len(partitions)))
	partitions[at] = append(partitions[at], events.Record{Message: m, Offset: int64(len(partitions[at])), Time: time.Unix(1e9, 0)})
}

func (l *memoryLog) Read(_ context.Context, topic string, partition int32, from int64, maxBytes int, _ time.Duration) ([]events.Record, int64, error) {
	all := l.topics[topic][partition]
	end := from
	for size := 0; end < int64(len(all)) && size < maxBytes; end++ {
		size += len(all[end].Value) + 500
	}
	return append([]events.Record{}, all[from:end]...), int64(len(all)), nil
}

func (l *memoryLog) Follow(ctx context.Context, topic string, partition int32, from int64, maxBytes int, wait time.Duration) ([]events.Record, int64, error) {
	if from == int64(len(l.topics[topic][partition])) {
		<-ctx.Done() // there will be no more
		return nil, from, ctx.Err()
	}
	return l.Read(ctx, topic, partition, from, maxBytes, wait)
}

func (l *memoryLog) Describe(context.Context) (eventlog.Description, error) {
	for i := range l.about.Topics {
		for n, records := range l.topics[l.about.Topics[i].Name] {
			l.about.Topics[i].Partitions[n].End = int64(len(records))
		}
	}
	return l.about, nil
}

// chain makes the records of one stream.
type chain struct {
	id, key string
	head    events.Head
}

// append appends the stream's next fact, and returns it.
func (c *chain) append(b testing.TB, log *memoryLog, data events.Data) events.Message {
	b.Helper()
	value, err := events.Encode(data)
	if err != nil {
		b.Fatal(err)
	}
	f := events.Frame{
		ID: events.NewID("event"), Type: data.EventType(), Stream: c.id, PartitionKey: c.key,
		Sequence: c.head.Sequence + 1, PreviousHash: c.head.Hash, Time: time.UnixMilli(1_700_000_000_000), Actor: "developer",
		CorrelationID: events.NewID("request"), CommandID: events.NewID("command"), DataVersion: 1,
	}
	m, hash := f.Message(value)
	c.head = events.Head{Sequence: f.Sequence, Hash: hash}
	log.append(b, c.key, m)
	return m
}
