package eventlog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
)

// OffsetsAt returns, by partition of the topic, the offset of the first record whose
// time is at or after the given one, or the partition's end if there is none. Times
// are compared in milliseconds.
func (k *Kafka) OffsetsAt(ctx context.Context, topic string, at time.Time) ([]int64, error) {
	count, err := k.PartitionsOf(ctx, topic)
	if err != nil {
		return nil, fmt.Errorf("find the offsets of %s at %s: %w", topic, at, err)
	}
	offsets := make([]int64, count)
	for partition := range offsets {
		err := k.ask(ctx, func(ctx context.Context) (err error) {
			offsets[partition], err = k.offsetAt(ctx, topic, partition, at)
			return err
		})
		if errors.Is(err, kafka.UnknownTopicOrPartition) || errors.Is(err, protocol.ErrNoTopic) || errors.Is(err, protocol.ErrNoPartition) {
			err = ErrNoTopic
		}
		if err != nil {
			return nil, fmt.Errorf("find the offset of %s/%d at %s: %w", topic, partition, at, err)
		}
	}
	return offsets, nil
}

func (k *Kafka) offsetAt(ctx context.Context, topic string, partition int, at time.Time) (int64, error) {
	end, err := k.end(ctx, topic, int32(partition)) // first, because records may be appended meanwhile
	if err != nil {
		return 0, err
	}
	request := kafka.TimeOffsetOf(partition, at.Add(time.Millisecond-1).Truncate(time.Millisecond))
	request.Timestamp = max(request.Timestamp, 0) // negative ones have other meanings
	res, err := k.client.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{topic: {request}}})
	if err != nil {
		return 0, err
	}
	for _, p := range res.Topics[topic] {
		if p.Error != nil {
			return 0, p.Error
		}
		for offset := range p.Offsets {
			if offset >= 0 {
				return offset, nil
			}
		}
	}
	return end, nil // no record is that late
}
