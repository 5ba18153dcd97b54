package publisher

import (
	"context"
	"errors"
	"fmt"

	"github.com/IBM/sarama"

	"netsim/events"
	"netsim/infra/eventlog"
)

// load is what goes into a transaction.
type load struct {
	chunks []chunk
	facts  int
	bytes  int // without headers
}

func (l *load) add(c chunk) {
	l.chunks = append(l.chunks, c)
	l.facts += len(c.Facts)
	for i := range c.Facts {
		l.bytes += c.Facts[i].Size()
	}
}

func (l *load) full() bool { return l.facts >= fullFacts || l.bytes >= fullBytes }

// gather adds what was read, up to a full transaction.
func (l *load) gather(more <-chan chunk) {
	for !l.full() {
		select {
		case c := <-more:
			l.add(c)
		default:
			return
		}
	}
}

// publish publishes what was taken, with the positions after it, in one transaction.
func (s *session) publish(ctx context.Context, taken []chunk) error {
	began := s.config.Now()
	s.take(s.shard, taken)
	messages, next, count, err := s.messages(taken)
	if err == nil {
		err = s.prove(ctx, next)
	}
	if err == nil {
		err = s.transact(ctx, messages, next)
	}
	if err != nil {
		s.config.Observe(Observation{Outcome: outcomeFailed, Took: s.config.Now().Sub(began)})
		return err
	}
	for family, at := range next {
		s.at[family].next, s.at[family].anchor = at.next, at.anchor
	}
	s.commit(s.shard, s.at)
	s.config.Observe(Observation{Outcome: outcomeCommitted, Facts: count, Took: s.config.Now().Sub(began)})
	return nil
}

// prove returns errOtherLog unless the log still has what is published before the next
// positions.
func (s *session) prove(ctx context.Context, next map[events.Family]reached) error {
	for family := range next {
		if err := s.config.prove(ctx, family, s.shard, s.at[family]); err != nil {
			return err
		}
	}
	return nil
}

// messages returns the public records of what was taken, without those that are
// published, and the positions after it.
func (s *session) messages(taken []chunk) (list []*sarama.ProducerMessage, next map[events.Family]reached, count map[events.Family]int, err error) {
	next, count = map[events.Family]reached{}, map[events.Family]int{}
	for family, at := range s.at {
		if len(taken) == 0 { // confirms every position
			next[family] = reached{at.next, at.anchor}
		}
	}
	for i := range taken {
		c := &taken[i]
		topic, source := s.config.topic(c.family), s.config.source(c.family)
		for j := range c.Facts {
			f := &c.Facts[j]
			if f.ID == "" { // the log has lost what was judged
				return nil, nil, nil, fmt.Errorf("the frame of the fact %s/%d@%d cannot be read: %w", source, f.Partition, f.Offset, f.Err)
			}
			partition := events.PartitionOf(f.PartitionKey, s.config.Partitions)
			if s.at[c.family].done(partition, f.Offset) {
				continue
			}
			if f.Err != nil {
				s.noteUnknown(f)
			}
			list = append(list, s.config.identify(f.Type, s.names.record(f, topic, source, partition)))
			count[c.family]++
		}
		before, moved := next[c.family]
		if !moved {
			before.anchor = s.at[c.family].anchor
		}
		next[c.family] = reached{c.To, before.anchor.After(c.To, c.Last)}
	}
	return list, next, count, nil
}

// transact sends the messages and commits the positions, all or nothing with
// transactions, and else in this order.
func (s *session) transact(ctx context.Context, messages []*sarama.ProducerMessage, next map[events.Family]reached) error {
	transactions := s.producer.IsTransactional()
	if transactions {
		if err := s.producer.BeginTxn(); err != nil {
			return fmt.Errorf("begin a transaction: %w", err)
		}
	}
	if err := s.send(ctx, messages); err != nil {
		return err
	}
	if err := s.recognize(); err != nil {
		return err
	}
	if err := s.config.step(ctx, "sent"); err != nil {
		return err
	}
	if !transactions {
		return s.commitGroup(ctx, next)
	}
	offsets := map[string][]*sarama.PartitionOffsetMetadata{}
	for family, at := range next {
		metadata := s.at[family].metadata(at.anchor)
		topic := s.config.source(family)
		offsets[topic] = append(offsets[topic], &sarama.PartitionOffsetMetadata{Partition: s.shard, Offset: at.next, LeaderEpoch: -1, Metadata: &metadata})
	}
	if err := s.producer.AddOffsetsToTxn(offsets, Group(s.config.Prefix)); err != nil {
		return fmt.Errorf("add the positions to the transaction: %w", err)
	}
	if err := s.producer.CommitTxn(); err != nil {
		return fmt.Errorf("commit the transaction: %w", err)
	}
	return s.config.step(ctx, "committed")
}

func (s *session) send(ctx context.Context, messages []*sarama.ProducerMessage) error {
	// The context ends before another process can take the shard.
	if err := s.config.step(ctx, "begun"); err != nil || len(messages) == 0 {
		return err
	}
	err := s.producer.SendMessages(messages)
	if failed, ok := errors.AsType[sarama.ProducerErrors](err); ok && len(failed) > 0 {
		first := failed[0]
		return fmt.Errorf("publish in %s/%d, %d of %d facts: %w", first.Msg.Topic, first.Msg.Partition, len(failed), len(messages), first.Err)
	}
	if err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	return nil
}

// recognize refuses topics that were made again since the session has begun: what was
// sent begins in the middle.
func (s *session) recognize() error {
	ids, err := s.config.topicIDs(s.client, s.shard)
	if err != nil {
		return err
	}
	for family, at := range s.at {
		if ids[family] != at.topic {
			return fmt.Errorf("topic %s was made again", s.config.topic(family))
		}
	}
	return nil
}

func (s *session) commitGroup(ctx context.Context, next map[events.Family]reached) error {
	for family, at := range next {
		err := s.config.EventLog.CommitGroup(ctx, Group(s.config.Prefix), s.config.source(family),
			map[int32]eventlog.GroupOffset{s.shard: {Next: at.next, Metadata: s.at[family].metadata(at.anchor)}})
		if err != nil {
			return err
		}
	}
	return s.config.step(ctx, "committed")
}
