package eventlog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/IBM/sarama"
)

// sarama makes the requests that kafka-go cannot: topic ids, leader epochs, and the
// offsets of many partitions in one request.

func (k *Kafka) saramaConfig() *sarama.Config {
	c := sarama.NewConfig()
	c.ClientID = clientID
	c.Version = sarama.V2_8_0_0 // the first with topic ids
	c.Net.DialTimeout, c.Net.ReadTimeout, c.Net.WriteTimeout = 3*time.Second, 5*time.Second, 5*time.Second
	k.Connect.Configure(c)
	return c
}

// metadata reads the metadata of the topics from the first broker that answers.
func (k *Kafka) metadata(ctx context.Context, topics []string) (*sarama.MetadataResponse, error) {
	c := k.saramaConfig()
	var errs []error
	for _, address := range k.Brokers {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		broker := sarama.NewBroker(address)
		if err := broker.Open(c); err != nil {
			errs = append(errs, err)
			continue
		}
		meta, err := broker.GetMetadata(sarama.NewMetadataRequest(c.Version, topics))
		broker.Close() //nolint:errcheck // the response is complete or failed
		if err == nil {
			return meta, nil
		}
		errs = append(errs, err)
	}
	return nil, fmt.Errorf("ask for metadata: %w", k.Connect.Explain(errors.Join(errs...)))
}

// ErrNoLeader means that the brokers have not elected the leader of a partition, or not all of
// them know it.
var ErrNoLeader = errors.New("a partition has no leader")

// describeOffsets reads the first and last offsets of all partitions from their
// leaders.
func (k *Kafka) describeOffsets(brokers []*sarama.Broker, topics []Topic) error {
	described := 0
	for _, broker := range brokers {
		n, err := k.offsetsOf(broker, topics)
		if err != nil {
			return fmt.Errorf("ask broker %d for offsets: %w", broker.ID(), err)
		}
		described += n
	}
	for _, t := range topics {
		described -= len(t.Partitions)
	}
	if described != 0 {
		return fmt.Errorf("ask for offsets: %w", ErrNoLeader)
	}
	return nil
}

// offsetsOf fills in the partitions that the broker leads, and counts them.
func (k *Kafka) offsetsOf(broker *sarama.Broker, topics []Topic) (led int, err error) {
	c := k.saramaConfig()
	first, last := sarama.NewOffsetRequest(c.Version), sarama.NewOffsetRequest(c.Version)
	for _, t := range topics {
		for number, p := range t.Partitions {
			if p.Leader == broker.ID() {
				first.AddBlock(t.Name, int32(number), sarama.OffsetOldest, 1)
				last.AddBlock(t.Name, int32(number), sarama.OffsetNewest, 1)
				led++
			}
		}
	}
	if led == 0 {
		return 0, nil
	}
	if err := broker.Open(c); err != nil {
		return 0, err
	}
	defer broker.Close() //nolint:errcheck // the responses are complete or failed
	starts, err := broker.GetAvailableOffsets(first)
	if err != nil {
		return 0, err
	}
	ends, err := broker.GetAvailableOffsets(last)
	if err != nil {
		return 0, err
	}
	for _, t := range topics {
		for number := range t.Partitions {
			p := &t.Partitions[number]
			if p.Leader != broker.ID() {
				continue
			}
			if p.Start, err = offsetIn(starts, t.Name, number); err != nil {
				return 0, err
			}
			if p.End, err = offsetIn(ends, t.Name, number); err != nil {
				return 0, err
			}
		}
	}
	return led, nil
}

func offsetIn(res *sarama.OffsetResponse, topic string, partition int) (int64, error) {
	block := res.GetBlock(topic, int32(partition))
	if block == nil {
		return 0, fmt.Errorf("no answer for %s/%d", topic, partition)
	}
	if block.Err != sarama.ErrNoError {
		return 0, fmt.Errorf("%s/%d: %w", topic, partition, block.Err)
	}
	return block.Offset, nil
}
