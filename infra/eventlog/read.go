package eventlog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"

	"netsim/events"
)

// Read returns the partition's records, starting at offset from, and its high water
// mark: the offset after the last replicated record. It returns about maxBytes, at
// least one batch. At the end of the partition it waits up to wait, rounded to
// milliseconds, for a record, and then returns none. The records share memory.
//
// The error is ErrOutOfRange, with the high water mark, when the partition has no
// such offset, and ErrNoTopic when the topic or partition does not exist.
func (k *Kafka) Read(ctx context.Context, topic string, partition int32, from int64, maxBytes int, wait time.Duration) ([]events.Record, int64, error) {
	req := &fetchRequest{topic: topic, partition: partition, from: from, maxBytes: int32(maxBytes), wait: wait}
	var res *fetched
	err := k.ask(ctx, func(ctx context.Context) (err error) {
		res, err = k.fetch(ctx, req)
		return err
	})
	switch {
	case errors.Is(err, kafka.OffsetOutOfRange):
		end, err := k.end(ctx, topic, partition)
		return nil, end, fmt.Errorf("read %s/%d from %d: %w", topic, partition, from, errors.Join(ErrOutOfRange, err))
	case errors.Is(err, kafka.UnknownTopicOrPartition), errors.Is(err, protocol.ErrNoTopic), errors.Is(err, protocol.ErrNoPartition):
		return nil, 0, fmt.Errorf("read %s/%d: %w", topic, partition, ErrNoTopic)
	case err != nil:
		return nil, 0, fmt.Errorf("read %s/%d from %d: %w", topic, partition, from, err)
	}
	d := decoder{topic: topic, partition: partition, names: map[string]string{}}
	for {
		b, ok, err := takeBatch(&res.set)
		if ok && err == nil {
			err = d.add(b, from)
		}
		if err != nil {
			return nil, 0, fmt.Errorf("read %s/%d from %d: %w", topic, partition, from, err)
		}
		if !ok {
			return d.records, res.highWater, nil
		}
	}
}

// fetch sends one request to the partition's leader.
func (k *Kafka) fetch(ctx context.Context, req *fetchRequest) (*fetched, error) {
	ctx, cancel := context.WithTimeout(ctx, req.wait+answerTimeout)
	defer cancel()
	res, err := k.transport.RoundTrip(ctx, k.client.Addr, req)
	if err != nil {
		return nil, err
	}
	f := res.(*fetched)
	k.noteThrottle(f.throttle)
	return f, nil
}

// PartitionsOf returns the number of partitions of a topic of the log or of
// Config.Beside, or 0 if it does not exist. A change is seen within about a second.
func (k *Kafka) PartitionsOf(ctx context.Context, topic string) (int, error) {
	meta, err := k.client.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{topic}})
	if err != nil {
		return 0, fmt.Errorf("ask for metadata: %w", err)
	}
	found := meta.Topics[0]
	switch {
	case errors.Is(found.Error, kafka.UnknownTopicOrPartition):
		return 0, nil
	case found.Error != nil:
		return 0, fmt.Errorf("topic %s: %w", topic, found.Error)
	}
	return len(found.Partitions), nil
}
