package publisher

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/IBM/sarama"

	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/stream/public"
)

// progress is what is published of a family in a shard.
type progress struct {
	family events.Family
	next   int64           // source offset of the first record that is not published
	anchor events.Anchor   // of a position in the log up to next
	last   map[int32]int64 // source offset of the last record of each public partition, -1 for none
	topic  string          // id of the public topic
}

// done reports whether a record of the source is in the public partition.
func (p *progress) done(partition int32, offset int64) bool { return offset <= p.last[partition] }

// reached is a position in the log.
type reached struct {
	next   int64
	anchor events.Anchor
}

// metadata is what is committed beside a position: for which public topic it holds, and in
// which log it is. A topic that is made again has another id.
func (p *progress) metadata(at events.Anchor) string {
	return metadataVersion + p.topic + ":" + at.String()
}

const (
	metadataVersion = "2:"
	unanchored      = "1:" // of a release that did not say which log it is
)

// readMetadata reads what was committed beside a position. The topic is "" for a position
// that an operator has set.
func readMetadata(text string) (topic string, at events.Anchor) {
	if of, ok := strings.CutPrefix(text, unanchored); ok {
		return of, at
	}
	of, ok := strings.CutPrefix(text, metadataVersion)
	of, anchor, anchored := strings.Cut(of, ":")
	at, err := events.ParseAnchor(anchor)
	if !ok || !anchored || err != nil {
		return "", events.Anchor{}
	}
	return of, at
}

// resume returns where to continue.
//
// The public topic is the truth: a partition has the facts of one partition of the log
// in their order, so what comes up to its last committed record is published. The
// group's position may only be further on, past records that are not facts. It counts
// if it was committed for this topic, and not for one that was deleted; a position that
// an operator has set has no topic, and does not count.
func resume(family events.Family, topic string, committed eventlog.GroupOffset, last map[int32]int64) progress {
	p := progress{family: family, topic: topic, last: last, next: -1}
	for _, offset := range last {
		if p.next < 0 || offset+1 < p.next {
			p.next = offset + 1
		}
	}
	if of, at := readMetadata(committed.Metadata); of == topic {
		p.next, p.anchor = max(p.next, committed.Next), at
	}
	return p
}

// republishing is committed instead of a position while the public topic is made again.
const republishing = "republishing"

var errRepublishing = errors.New("it is being made again: if that was interrupted, run 'netsim events republish' again")

// find finds the progress of a shard in each family.
func (c *Config) find(ctx context.Context, client sarama.Client, shard int32, isolation sarama.IsolationLevel) (map[events.Family]*progress, error) {
	ids, err := c.topicIDs(client, shard)
	if err != nil {
		return nil, err
	}
	log, err := c.EventLog.Describe(ctx)
	if err != nil {
		return nil, err
	}
	all := map[events.Family]*progress{}
	for _, t := range log.Topics {
		p, err := c.findFamily(ctx, client, ids[t.Family], t.Family, shard, isolation)
		if err != nil {
			return nil, err
		}
		p.anchor.TopicID = t.ID
		all[t.Family] = p
	}
	return all, nil
}

// findFamily finds the progress of a shard in a family. The public topic has the id.
func (c *Config) findFamily(ctx context.Context, client sarama.Client, id string, family events.Family, shard int32, isolation sarama.IsolationLevel) (*progress, error) {
	source := c.source(family)
	committed, err := c.EventLog.GroupOffsets(ctx, Group(c.Prefix), source, shard+1)
	if err != nil {
		return nil, err
	}
	if committed[shard].Metadata == republishing {
		return nil, fmt.Errorf("topic %s: %w", c.topic(family), errRepublishing)
	}
	last := map[int32]int64{}
	for partition := shard; partition < c.Partitions; partition += c.Shards {
		of := scan{client, c.topic(family), partition, public.Source{Topic: source, Partition: shard}, isolation}
		found, err := of.last()
		if err == nil {
			err = c.verify(ctx, source, shard, found)
		}
		if err != nil {
			return nil, err
		}
		last[partition] = found.offset
	}
	p := resume(family, id, committed[shard], last)
	return &p, c.prove(ctx, family, shard, &p)
}

// prove returns errOtherLog unless the log has the record before the position.
func (c *Config) prove(ctx context.Context, family events.Family, shard int32, p *progress) error {
	other, err := eventlog.Prove(ctx, c.EventLog, c.source(family), shard, p.anchor)
	if err == nil && other != "" {
		err = fmt.Errorf("%s is published up to offset %d of partition %d: %w: %s", family, p.next, shard, errOtherLog, other)
	}
	return err
}

// OtherLog returns the families whose public topics have facts that the log does not
// have, or are published up to a position in another log.
func OtherLog(ctx context.Context, c Config) (families []events.Family, err error) {
	if c, err = c.withDefaults(); err != nil {
		return nil, err
	}
	client, err := sarama.NewClient(c.Brokers, c.sarama())
	if err != nil {
		return nil, fmt.Errorf("connect to read the public topics: %w", err)
	}
	defer client.Close() //nolint:errcheck // it only reads
	topics, err := client.Topics()
	if err != nil {
		return nil, fmt.Errorf("list the public topics: %w", err)
	}
	for _, family := range events.Families() {
		if !slices.Contains(topics, c.topic(family)) {
			continue
		}
		for shard := range c.Shards {
			ids, err := c.topicIDs(client, shard)
			if err == nil {
				_, err = c.findFamily(ctx, client, ids[family], family, shard, sarama.ReadCommitted)
			}
			if errors.Is(err, errOtherLog) {
				families = append(families, family)
				break
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return families, nil
}

// errOtherLog is wrapped when a public topic has a fact that the log does not have.
var errOtherLog = errors.New("the log has lost it, and the public topic has to be made again: netsim events republish")

// verify refuses to continue a public topic whose last fact is not in the log, as after
// the loss of the log's tail.
func (c *Config) verify(ctx context.Context, source string, shard int32, last published) error {
	if last == none {
		return nil
	}
	records, _, err := c.EventLog.Read(ctx, source, shard, last.offset, 1, time.Second)
	if errors.Is(err, eventlog.ErrOutOfRange) {
		err, records = nil, nil
	}
	if err != nil {
		return err
	}
	if len(records) > 0 && records[0].Offset == last.offset {
		if f, hash, err := events.ReadFrame(&records[0].Message); err == nil && f.ID == last.id && hash.String() == last.hash {
			return nil
		}
	}
	return fmt.Errorf("the fact %s of %s/%d@%d is published: %w", last.id, source, shard, last.offset, errOtherLog)
}

// topicIDs returns the ids of the public topics. It asks the leaders of the shard's
// partitions: a broker that takes records of a topic knows its id, while another may
// still know the one of a former topic.
func (c *Config) topicIDs(client sarama.Client, shard int32) (map[events.Family]string, error) {
	type leader struct {
		broker *sarama.Broker
		topics []string
	}
	leaders := map[int32]*leader{}
	families := map[string]events.Family{}
	for _, family := range events.Families() {
		topic := c.topic(family)
		families[topic] = family
		for partition := shard; partition < c.Partitions; partition += c.Shards {
			broker, err := client.Leader(topic, partition)
			if err != nil {
				return nil, fmt.Errorf("ask for the leader of %s/%d: %w", topic, partition, err)
			}
			l := leaders[broker.ID()]
			if l == nil {
				l = &leader{broker: broker}
				leaders[broker.ID()] = l
			}
			l.topics = append(l.topics, topic)
		}
	}
	ids := map[events.Family]string{}
	for _, l := range leaders {
		meta, err := l.broker.GetMetadata(sarama.NewMetadataRequest(sarama.V2_8_0_0, l.topics))
		if err != nil {
			return nil, fmt.Errorf("ask for the ids of the public topics: %w", err)
		}
		for _, t := range meta.Topics {
			family := families[t.Name]
			id := t.Uuid.String()
			switch {
			case t.Err != sarama.ErrNoError:
				return nil, fmt.Errorf("topic %s: %w", t.Name, t.Err)
			case int32(len(t.Partitions)) != c.Partitions:
				return nil, fmt.Errorf("topic %s: %w", t.Name, errPartitions(int32(len(t.Partitions)), c.Shards))
			case ids[family] != "" && ids[family] != id:
				return nil, fmt.Errorf("topic %s is being made again", t.Name)
			}
			ids[family] = id
		}
	}
	return ids, nil
}

// positions returns the next offset of each family.
func positions(at map[events.Family]*progress) map[events.Family]int64 {
	next := make(map[events.Family]int64, len(at))
	for family, p := range at {
		next[family] = p.next
	}
	return next
}
