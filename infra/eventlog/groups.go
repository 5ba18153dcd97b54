package eventlog

import (
	"context"
	"errors"
	"fmt"

	"github.com/segmentio/kafka-go"
)

// GroupOffset is what a consumer group has committed for a partition.
type GroupOffset struct {
	Next     int64  // the first offset that is not committed; 0 when nothing is committed
	Metadata string // that the client committed with it; brokers take 4,096 bytes
}

// GroupOffsets returns what the consumer group has committed for each partition
// of the topic.
func (k *Kafka) GroupOffsets(ctx context.Context, group, topic string, partitions int32) ([]GroupOffset, error) {
	asked := make([]int, partitions)
	for i := range asked {
		asked[i] = i
	}
	var res *kafka.OffsetFetchResponse
	err := k.ask(ctx, func(ctx context.Context) (err error) {
		res, err = k.client.OffsetFetch(ctx, &kafka.OffsetFetchRequest{GroupID: group, Topics: map[string][]int{topic: asked}})
		if err == nil {
			err = res.Error
		}
		return err
	})
	found := make([]GroupOffset, partitions)
	if errors.Is(err, kafka.GroupIdNotFound) { // it has committed nothing
		return found, nil
	}
	if err != nil {
		return nil, fmt.Errorf("ask what %s has committed of %s: %w", group, topic, err)
	}
	for _, part := range res.Topics[topic] {
		if part.Error != nil {
			return nil, fmt.Errorf("ask what %s has committed of %s/%d: %w", group, topic, part.Partition, part.Error)
		}
		if part.Partition < int(partitions) && part.CommittedOffset >= 0 {
			found[part.Partition] = GroupOffset{Next: part.CommittedOffset, Metadata: part.Metadata}
		}
	}
	return found, nil
}

// CommitGroup commits offsets, by partition, for a consumer group without
// members. A broker refuses it while the group has members.
func (k *Kafka) CommitGroup(ctx context.Context, group, topic string, offsets map[int32]GroupOffset) error {
	var commits []kafka.OffsetCommit
	for partition, at := range offsets {
		commits = append(commits, kafka.OffsetCommit{Partition: int(partition), Offset: at.Next, Metadata: at.Metadata})
	}
	err := k.ask(ctx, func(ctx context.Context) error {
		res, err := k.client.OffsetCommit(ctx, &kafka.OffsetCommitRequest{
			GroupID: group, GenerationID: -1, Topics: map[string][]kafka.OffsetCommit{topic: commits},
		})
		if err != nil {
			return err
		}
		for _, part := range res.Topics[topic] {
			if part.Error != nil {
				return part.Error
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("commit offsets of %s in %s: %w", group, topic, err)
	}
	return nil
}
