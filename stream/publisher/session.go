package publisher

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/IBM/sarama"

	"netsim/events"
	"netsim/infra/facts"
)

// session publishes a shard until something fails. It is the only one to publish it
// as long as no later one has begun.
type session struct {
	*Publisher
	shard    int32
	client   sarama.Client
	producer sarama.SyncProducer
	at       map[events.Family]*progress

	disconnect func()      // closes the client once: sarama panics if two goroutines close it
	forget     func() bool // ends the wait for the end of the context
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
	s.disconnect = sync.OnceFunc(func() { s.client.Close() }) //nolint:errcheck // nothing is left to do with it
	s.forget = context.AfterFunc(ctx, func() { time.AfterFunc(endTimeout, s.disconnect) })
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

func (s *session) close() {
	if s.producer != nil {
		s.producer.Close() //nolint:errcheck // an open transaction is aborted by the next session
	}
	if s.client != nil {
		s.forget()
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
		var taken load
		select {
		case first := <-chunks:
			taken.add(first)
			taken.gather(chunks)
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
		if err := s.publish(ctx, taken.chunks); err != nil {
			return err
		}
		if taken.full() {
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
