package publisher

import (
	"context"
	"errors"
	"fmt"

	"github.com/IBM/sarama"

	"netsim/events"
)

// Committed reads the committed records of the public topics. It implements
// audit.PublicTopics.
type Committed struct {
	config Config
	client sarama.Client
}

// OpenCommitted connects to the brokers of the settings. It needs Brokers, Prefix and
// EventLog only.
func OpenCommitted(c Config) (*Committed, error) {
	client, err := sarama.NewClient(c.Brokers, c.sarama())
	if err != nil {
		return nil, fmt.Errorf("connect to read the public topics: %w", err)
	}
	return &Committed{c, client}, nil
}

// Close disconnects.
func (c *Committed) Close() error { return c.client.Close() }

// Partitions returns the name of a family's public topic and its number of partitions; 0
// if there is no topic.
func (c *Committed) Partitions(_ context.Context, family events.Family) (topic string, count int32, err error) {
	topic = c.config.topic(family)
	partitions, err := c.client.Partitions(topic)
	if errors.Is(err, sarama.ErrUnknownTopicOrPartition) {
		return topic, 0, nil
	}
	if err != nil {
		return topic, 0, fmt.Errorf("describe topic %s: %w", topic, err)
	}
	return topic, int32(len(partitions)), nil
}

// Start returns the offset of the first record that a partition still has.
func (c *Committed) Start(_ context.Context, family events.Family, partition int32) (int64, error) {
	topic := c.config.topic(family)
	first, err := c.client.GetOffset(topic, partition, sarama.OffsetOldest)
	if err != nil {
		return 0, fmt.Errorf("ask for the begin of %s/%d: %w", topic, partition, err)
	}
	return first, nil
}

// Read returns committed records from an offset on, and where to continue: the same
// offset at the end of what is committed. It does not wait for records.
func (c *Committed) Read(ctx context.Context, family events.Family, partition int32, from int64) (records []events.Record, next int64, err error) {
	topic := c.config.topic(family)
	for next = from; len(records) == 0; {
		if err := ctx.Err(); err != nil {
			return nil, next, err
		}
		s := scan{client: c.client, topic: topic, partition: partition, isolation: sarama.ReadCommitted}
		block, err := s.fetch(next)
		if err != nil {
			return nil, next, fmt.Errorf("read %s/%d from %d: %w", topic, partition, next, err)
		}
		before := next
		if records, next, err = committedIn(block, next); err != nil {
			return nil, before, fmt.Errorf("read %s/%d from %d: %w", topic, partition, before, err)
		}
		if next == before {
			break
		}
	}
	for i := range records {
		records[i].Topic, records[i].Partition = topic, partition
	}
	return records, next, nil
}

// committedIn returns the records of a fetched block that are committed, and the offset
// after it. The broker lists all aborted transactions that overlap the block.
func committedIn(block *sarama.FetchResponseBlock, from int64) (records []events.Record, next int64, err error) {
	next, err = eachCommitted(block, map[int64]bool{}, from, func(b *sarama.RecordBatch) {
		records = append(records, recordsOf(b, from)...)
	})
	if err != nil {
		return nil, from, err
	}
	return records, next, nil
}

// eachCommitted calls do for each batch of a fetched block that is not of an aborted
// transaction, and returns the offset after the block. Aborted has the producers that are
// in an aborted transaction; it is updated.
func eachCommitted(block *sarama.FetchResponseBlock, aborted map[int64]bool, from int64, do func(*sarama.RecordBatch)) (next int64, err error) {
	open := block.AbortedTransactions
	next = from
	for _, set := range block.RecordsSet {
		b := set.RecordBatch
		if b == nil || b.PartialTrailingRecord {
			return from, errors.New("the broker returned an incomplete batch, or one of an old format")
		}
		for len(open) > 0 && open[0].FirstOffset <= b.LastOffset() { // they ascend, see fetch
			aborted[open[0].ProducerID] = true
			open = open[1:]
		}
		switch {
		case b.Control:
			if isAbort(b) {
				delete(aborted, b.ProducerID)
			}
		case b.IsTransactional && aborted[b.ProducerID]:
		default:
			do(b)
		}
		next = max(next, b.LastOffset()+1)
	}
	return next, nil
}

// recordsOf returns the records of a batch from an offset on.
func recordsOf(b *sarama.RecordBatch, from int64) (records []events.Record) {
	for _, r := range b.Records {
		at := b.FirstOffset + r.OffsetDelta
		if at < from {
			continue
		}
		m := events.Message{Key: r.Key, Value: r.Value}
		for _, h := range r.Headers {
			m.Headers = append(m.Headers, events.Header{Key: string(h.Key), Value: h.Value})
		}
		records = append(records, events.Record{Message: m, Offset: at, Time: b.FirstTimestamp.Add(r.TimestampDelta)})
	}
	return records
}

// Claimed returns the first offset of a partition of the log that its publisher does not
// claim to have published: the position that it committed for the public topic that there
// is now, or 0.
func (c *Committed) Claimed(ctx context.Context, family events.Family, partition int32) (int64, error) {
	committed, err := c.config.EventLog.GroupOffsets(ctx, Group(c.config.Prefix), c.config.source(family), partition+1)
	if err != nil {
		return 0, err
	}
	of, _ := readMetadata(committed[partition].Metadata)
	if of == "" {
		return 0, nil
	}
	id, err := c.topicID(c.config.topic(family), partition)
	if err != nil || id != of {
		return 0, err
	}
	return committed[partition].Next, nil
}

// topicID asks the leader of a partition for the id of the topic.
func (c *Committed) topicID(topic string, partition int32) (string, error) {
	leader, err := c.client.Leader(topic, partition)
	if err != nil {
		return "", fmt.Errorf("ask for the leader of %s/%d: %w", topic, partition, err)
	}
	meta, err := leader.GetMetadata(sarama.NewMetadataRequest(sarama.V2_8_0_0, []string{topic}))
	if err != nil {
		return "", fmt.Errorf("ask for the id of topic %s: %w", topic, err)
	}
	if len(meta.Topics) != 1 || meta.Topics[0].Err != sarama.ErrNoError {
		return "", fmt.Errorf("ask for the id of topic %s: %w", topic, sarama.ErrIncompleteResponse)
	}
	return meta.Topics[0].Uuid.String(), nil
}
