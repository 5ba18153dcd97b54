package eventlog

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/IBM/sarama"
	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
)

// A log is copied, from an archive or another cluster, into topics that keep the times
// of the records that are appended (CreateTime). Check refuses such topics, so no service
// uses a copy before FinishCopy.
//
// Kafka has no append at an offset, but it appends a batch of a producer only if its
// sequence follows that of the producer's batch before. All commands that copy one log into
// one topic are the same producer, and the sequence of a record is its offset: a batch that
// another command has appended is not appended again.

// CopySource is a topic that is copied.
type CopySource struct {
	ID   string
	Ends []int64 // by partition
}

// BeginCopy makes the topics of a copy that are missing. sources has, by the name of a
// topic, what is copied into it. It refuses a topic that exists, unless it is one of an
// unfinished copy, or of a finished one with the same ends. It returns, by the name of a
// topic, the producer for CopyBatch.
func (k *Kafka) BeginCopy(ctx context.Context, sources map[string]CopySource) (map[string]int64, error) {
	names := slices.Sorted(maps.Keys(sources))
	meta, err := k.metadata(ctx, names)
	if err != nil {
		return nil, err
	}
	var missing []kafka.TopicConfig
	for _, topic := range meta.Topics {
		if topic.Err != sarama.ErrUnknownTopicOrPartition {
			continue
		}
		c := k.topicConfig(topic.Name)
		c.NumPartitions = len(sources[topic.Name].Ends)
		for i := range c.ConfigEntries {
			if c.ConfigEntries[i].ConfigName == settingTimestamp {
				c.ConfigEntries[i].ConfigValue = createTime
			}
		}
		missing = append(missing, c)
	}
	if len(missing) > 0 {
		if k.Replication > len(meta.Brokers) {
			return nil, fmt.Errorf("%w: each topic needs %d replicas, and the cluster has %d brokers", ErrFewBrokers, k.Replication, len(meta.Brokers))
		}
		if err := k.create(ctx, missing); err != nil {
			return nil, err
		}
	}
	if err := k.awaitTopics(ctx, names, electionTimeout); err != nil {
		return nil, err
	}
	d, err := k.describeFamilies(ctx, k.families(names))
	if err != nil {
		return nil, err
	}
	producers := map[string]int64{}
	for i := range d.Topics {
		t := &d.Topics[i]
		if err := k.checkCopy(t, sources[t.Name].Ends); err != nil {
			return nil, err
		}
		producers[t.Name] = copyProducer(sources[t.Name].ID, t.ID)
	}
	return producers, nil
}

// copyProducer returns the id of the producer that copies one topic into another. It is far
// above the ids that brokers assign.
func copyProducer(from, to string) int64 {
	sum := sha256.Sum256([]byte(from + " " + to))
	return int64(binary.BigEndian.Uint64(sum[:])>>2 | 1<<62)
}

const createTime = "CreateTime"

// copyTimeout bounds the tries to append a batch.
const copyTimeout = time.Minute

// checkCopy refuses a topic that cannot be one of a copy.
func (k *Kafka) checkCopy(t *Topic, ends []int64) error {
	if len(t.Partitions) != len(ends) {
		return fmt.Errorf("%w: topic %s has %d partitions, the log that is copied has %d", ErrNoCopy, t.Name, len(t.Partitions), len(ends))
	}
	complete := true
	for n, end := range ends {
		complete = complete && t.Partitions[n].End == end
	}
	if got := t.Settings[settingTimestamp]; got != createTime && !complete {
		return fmt.Errorf("%w: topic %s has %s=%q, a topic of an unfinished copy has %q", ErrNoCopy, t.Name, settingTimestamp, got, createTime)
	}
	if err := checkBeginning(t); err != nil {
		return err
	}
	return nil
}

// ErrNoCopy is wrapped by the error for a topic into which no log is copied: a service
// made or used it, or its copy is finished.
var ErrNoCopy = errors.New("the topic is not one of an unfinished copy of a log")

// ErrCopying is wrapped by the error for a topic into which another command copies the same
// log at the same time. Nothing was appended in the wrong position.
var ErrCopying = errors.New("another restore or mirror appends to the topic")

// CopyBatch appends a batch of AppendBatches to a partition that ends where the batch
// begins, as the topic's producer. When its outcome is not known, the partition is read: the
// batch is then appended again unless its records are there. It fails when other records are
// there.
//
// Brokers forget a producer that has appended nothing for a day. Of two commands that then
// begin at the same moment, both find that the offset is not theirs, and fail.
func (k *Kafka) CopyBatch(ctx context.Context, topic string, partition int32, producer int64, batch []byte) error {
	rest := batch
	b, ok, err := takeBatch(&rest)
	if err != nil || !ok {
		return errors.Join(errCorrupt, err)
	}
	set := make([]byte, 4, 4+len(batch))
	binary.BigEndian.PutUint32(set, uint32(len(batch)))
	set = append(set, batch...)
	binary.BigEndian.PutUint64(set[4:], 0) // the broker sets the offset
	setProducer(set[4:], producer, int32(b.base()&math.MaxInt32))
	ctx, cancel := context.WithTimeout(ctx, copyTimeout)
	defer cancel()
	for pause := retries(); ; {
		base, err := k.produce(ctx, topic, partition, set)
		switch {
		case err == nil && base == b.base():
			return nil
		case err == nil:
			return fmt.Errorf("%w: %s/%d took a record at offset %d that belongs at %d: another client writes to the topic", ErrNoCopy, topic, partition, base, b.base())
		case errors.Is(err, kafka.OutOfOrderSequenceNumber), errors.Is(err, kafka.DuplicateSequenceNumber):
			return fmt.Errorf("%w %s/%d, which does not end at offset %d any more: wait until it has ended, and repeat the command", ErrCopying, topic, partition, b.base())
		case effectOf(err) == refused:
			return fmt.Errorf("append to %s/%d at offset %d: %w", topic, partition, b.base(), err)
		}
		if !pause(ctx) {
			return fmt.Errorf("append to %s/%d at offset %d: %w", topic, partition, b.base(), err)
		}
		end, failed := k.end(ctx, topic, partition)
		switch {
		case failed != nil: // asked again after the next try, which fails too
			continue
		case end == b.next():
			return nil // FinishCopy compares the records
		case end != b.base():
			return fmt.Errorf("%w: %s/%d ends at offset %d, and should end at %d or %d: another client writes to the topic", ErrNoCopy, topic, partition, end, b.base(), b.next())
		}
	}
}

func (k *Kafka) produce(ctx context.Context, topic string, partition int32, set []byte) (int64, error) {
	res, err := k.producer.RawProduce(ctx, &kafka.RawProduceRequest{
		Topic: topic, Partition: int(partition), RequiredAcks: kafka.RequireAll,
		RawRecords: protocol.RawRecordSet{Reader: bytes.NewReader(set)},
	})
	if err != nil {
		return 0, err
	}
	k.noteThrottle(res.Throttle)
	return res.BaseOffset, res.Error
}

// FinishCopy gives the topics of a copy the settings of a log. The caller has compared
// the records. Repeating it changes nothing.
func (k *Kafka) FinishCopy(ctx context.Context, names []string) error {
	var req kafka.IncrementalAlterConfigsRequest
	for _, name := range names {
		req.Resources = append(req.Resources, kafka.IncrementalAlterConfigsRequestResource{
			ResourceType: kafka.ResourceTypeTopic, ResourceName: name,
			Configs: []kafka.IncrementalAlterConfigsRequestConfig{{Name: settingTimestamp, Value: "LogAppendTime", ConfigOperation: kafka.ConfigOperationSet}},
		})
	}
	err := k.ask(ctx, func(ctx context.Context) error {
		res, err := k.client.IncrementalAlterConfigs(ctx, &req)
		if err != nil {
			return fmt.Errorf("change the settings of the topics: %w", err)
		}
		for _, r := range res.Resources {
			if r.Error != nil {
				return fmt.Errorf("change the settings of topic %s: %w", r.ResourceName, r.Error)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return k.awaitFinished(ctx, names)
}

// awaitFinished waits until every broker that answers knows the settings of a finished copy:
// each learns them a moment after the change, and the next command may ask any of them.
func (k *Kafka) awaitFinished(ctx context.Context, names []string) error {
	meta, err := k.metadata(ctx, names)
	if err != nil {
		return err
	}
	patient, cancel := context.WithTimeout(ctx, electionTimeout)
	defer cancel()
	for _, b := range meta.Brokers {
		for pause := retries(); ; {
			copying, err := k.copyingAt(b.Addr(), names)
			if copying == "" || err != nil { // a broker that does not answer learns them before it does
				break
			}
			if !pause(patient) {
				return fmt.Errorf("the broker at %s does not know yet that the copy of topic %s is finished; repeat the command", b.Addr(), copying)
			}
		}
	}
	return nil
}

// copyingAt returns the name of a topic that the broker takes for one of an unfinished copy.
func (k *Kafka) copyingAt(address string, names []string) (copying string, err error) {
	broker := sarama.NewBroker(address)
	if err := broker.Open(k.saramaConfig()); err != nil {
		return "", err
	}
	defer broker.Close() //nolint:errcheck // everything was read
	req := &sarama.DescribeConfigsRequest{Version: 1}
	for _, name := range names {
		req.Resources = append(req.Resources, &sarama.ConfigResource{Type: sarama.TopicResource, Name: name, ConfigNames: []string{settingTimestamp}})
	}
	res, err := broker.DescribeConfigs(req)
	if err != nil {
		return "", err
	}
	for _, r := range res.Resources {
		for _, entry := range r.Configs {
			if entry.Value == createTime {
				copying = r.Name
			}
		}
	}
	return copying, nil
}

// Copying reports whether topics are those of an unfinished copy.
func (t *Topic) Copying() bool { return t.Settings[settingTimestamp] == createTime }

// Batches splits a set of AppendBatches into its batches, with the offset of the first
// record of each and the offset after its last one.
func Batches(set []byte) (all []Batch, err error) {
	for len(set) > 0 {
		rest := set
		b, ok, err := takeBatch(&rest)
		if err != nil || !ok {
			return nil, errors.Join(errCorrupt, err)
		}
		all = append(all, Batch{Base: b.base(), Next: b.next(), Bytes: set[:len(set)-len(rest)]})
		set = rest
	}
	return all, nil
}

// Batch is one batch of AppendBatches.
type Batch struct {
	Base, Next int64
	Bytes      []byte
}
