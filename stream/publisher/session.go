package publisher

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/IBM/sarama"

	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/infra/facts"
	"netsim/stream/public"
)

// session publishes a shard until something fails. It is the only one to publish it
// as long as no later one has begun.
type session struct {
	*Publisher
	shard    int32
	client   sarama.Client
	producer sarama.SyncProducer
	at       map[events.Family]*progress
}

// The size of a transaction, and of what is read ahead of it.
const (
	fullFacts = 8 << 10
	fullBytes = 8 << 20
	readAhead = 8 // batches
)

// confirmEvery is how often positions are committed that do not move, so that brokers,
// which forget a group's offsets after days, keep them.
const confirmEvery = time.Hour

// defaultCheck is how often a session without facts looks whether its topics are the same:
// nothing else tells it that they were made again.
const defaultCheck = 5 * time.Second

// open begins a session. With transactions it first fences every former session of the
// shard, so nothing changes any more of what is then found in the topics.
func (p *Publisher) open(ctx context.Context, shard int32, transactions bool) (_ *session, err error) {
	s := &session{Publisher: p, shard: shard}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.client, err = sarama.NewClient(p.config.Brokers, p.config.producing(shard, transactions)); err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	context.AfterFunc(ctx, func() { time.AfterFunc(endTimeout, s.disconnect) })
	if s.producer, err = sarama.NewSyncProducerFromClient(s.client); err != nil {
		return nil, fmt.Errorf("become the publisher of shard %d: %w", shard, err)
	}
	isolation := sarama.ReadUncommitted
	if transactions {
		isolation = sarama.ReadCommitted
	}
	if s.at, err = p.config.find(ctx, s.client, shard, isolation); err != nil {
		return nil, err
	}
	return s, p.config.step(ctx, "resumed")
}

// endTimeout is how long a session may go on after its context, for instance to end a
// transaction. Then its connections are closed, because sarama's calls have no context.
const endTimeout = 2 * time.Second

func (s *session) disconnect() {
	s.client.Close() //nolint:errcheck // it may be closed already
}

func (s *session) close() {
	if s.producer != nil {
		s.producer.Close() //nolint:errcheck // an open transaction is aborted by the next session
	}
	if s.client != nil {
		s.disconnect()
	}
}

// chunk is a batch that was read of a family.
type chunk struct {
	family events.Family
	facts.Batch
}

// run reads and publishes until ctx ends or something fails.
func (s *session) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	chunks := make(chan chunk, readAhead)
	var readers sync.WaitGroup
	defer readers.Wait()
	defer cancel(nil)
	for family, at := range s.at {
		next := at.next
		readers.Go(func() { s.read(ctx, cancel, family, next, chunks) })
	}
	confirm, check := time.NewTicker(confirmEvery), time.NewTicker(s.config.checkEvery)
	defer confirm.Stop()
	defer check.Stop()
	pace := time.NewTimer(0)
	defer pace.Stop()
	for {
		var taken []chunk
		select {
		case first := <-chunks:
			taken = gather(first, chunks)
		case <-confirm.C:
		case <-check.C:
			if err := s.recognize(); err != nil {
				return err
			}
			continue
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		pace.Reset(s.config.Every)
		if err := s.publish(ctx, taken); err != nil {
			return err
		}
		if full(taken) {
			continue
		}
		select {
		case <-pace.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// read reads a family ahead of what is published.
func (s *session) read(ctx context.Context, cancel context.CancelCauseFunc, family events.Family, next int64, into chan<- chunk) {
	for {
		batch, err := s.config.Facts.Next(ctx, family, s.shard, next)
		if err != nil {
			cancel(err)
			return
		}
		next = batch.To
		select {
		case into <- chunk{family, batch}:
		case <-ctx.Done():
			return
		}
	}
}

// gather takes what was read, up to a full transaction.
func gather(first chunk, more <-chan chunk) []chunk {
	taken := []chunk{first}
	for !full(taken) {
		select {
		case c := <-more:
			taken = append(taken, c)
		default:
			return taken
		}
	}
	return taken
}

func full(taken []chunk) bool {
	count, bytes := 0, 0
	for i := range taken {
		count += len(taken[i].Facts)
		for j := range taken[i].Facts {
			bytes += taken[i].Facts[j].Size()
		}
	}
	return count >= fullFacts || bytes >= fullBytes
}

// publish publishes what was taken, with the positions after it, in one transaction.
func (s *session) publish(ctx context.Context, taken []chunk) error {
	began := s.config.Now()
	s.take(s.shard, taken)
	messages, next, count, err := s.messages(taken)
	if err == nil {
		err = s.transact(ctx, messages, next)
	}
	if err != nil {
		s.config.Observe(Observation{Outcome: outcomeFailed, Took: s.config.Now().Sub(began)})
		return err
	}
	for family, offset := range next {
		s.at[family].next = offset
	}
	s.commit(s.shard, s.at)
	s.config.Observe(Observation{Outcome: outcomeCommitted, Facts: count, Took: s.config.Now().Sub(began)})
	return nil
}

// messages returns the public records of what was taken, without those that are
// published, and the positions after it.
func (s *session) messages(taken []chunk) (list []*sarama.ProducerMessage, next map[events.Family]int64, count map[events.Family]int, err error) {
	next, count = map[events.Family]int64{}, map[events.Family]int{}
	for family, at := range s.at {
		if len(taken) == 0 { // confirms every position
			next[family] = at.next
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
			list = append(list, s.names.record(f, topic, source, partition))
			count[c.family]++
		}
		next[c.family] = c.To
	}
	return list, next, count, nil
}

// transact sends the messages and commits the positions, all or nothing with
// transactions, and else in this order.
func (s *session) transact(ctx context.Context, messages []*sarama.ProducerMessage, next map[events.Family]int64) error {
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
	for family, offset := range next {
		metadata := s.at[family].metadata()
		topic := s.config.source(family)
		offsets[topic] = append(offsets[topic], &sarama.PartitionOffsetMetadata{Partition: s.shard, Offset: offset, LeaderEpoch: -1, Metadata: &metadata})
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

func (s *session) commitGroup(ctx context.Context, next map[events.Family]int64) error {
	for family, offset := range next {
		at := s.at[family]
		err := s.config.EventLog.CommitGroup(ctx, Group(s.config.Prefix), s.config.source(family),
			map[int32]eventlog.GroupOffset{s.shard: {Next: offset, Metadata: at.metadata()}})
		if err != nil {
			return err
		}
	}
	return s.config.step(ctx, "committed")
}

// headerNames has the names of the headers as bytes.
type headerNames map[string][]byte

func newHeaderNames() headerNames {
	names := headerNames{}
	for _, a := range public.Attributes() {
		names[a.Header] = []byte(a.Header)
	}
	return names
}

// record returns the public record of a fact.
func (n headerNames) record(f *facts.Fact, topic, source string, partition int32) *sarama.ProducerMessage {
	m := public.Message(f, source)
	headers := make([]sarama.RecordHeader, len(m.Headers))
	for i, h := range m.Headers {
		headers[i] = sarama.RecordHeader{Key: n[h.Key], Value: h.Value}
	}
	return &sarama.ProducerMessage{
		Topic: topic, Partition: partition, Key: sarama.ByteEncoder(m.Key), Value: sarama.ByteEncoder(m.Value),
		Headers: headers, Timestamp: f.RecordedAt,
	}
}

// positions returns the next offset of each family.
func positions(at map[events.Family]*progress) map[events.Family]int64 {
	next := make(map[events.Family]int64, len(at))
	for family := range maps.Keys(at) {
		next[family] = at[family].next
	}
	return next
}
