package journal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"

	"netsim/events"
)

// Read returns the partition's records from offset from on, and its high water
// mark: the offset behind the last record that is safe from loss. It returns
// what there is up to about maxBytes, one batch at least; where there is
// nothing it waits up to wait, in milliseconds, and then returns no records.
// The records share memory with each other.
//
// A from that the log does not reach is ErrOutOfRange, together with the high
// water mark; a topic or partition that is not there is ErrNoTopic.
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
