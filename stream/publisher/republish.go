package publisher

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/IBM/sarama"

	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/internal/wait"
)

// ErrHeld is wrapped by Republish without transactions while a publisher runs.
var ErrHeld = errors.New("without transactions, a running publisher could write into the new topic from the middle: stop the processes with the role publisher first")

// Republish deletes a family's public topic and makes it again. The publishers, which
// may run, then publish every fact again from offset 0 of the log. Held says who
// publishes at the moment, "" for nobody.
//
// The position of the former topic does not count for the new one, because it was
// committed with the topic's id. What a publisher was sending meanwhile is aborted: its
// session sees before its commit that the topic has another id, and loses its
// transactional id at the end.
func Republish(ctx context.Context, c Config, family events.Family, held string) error {
	c, err := c.withDefaults()
	if err != nil {
		return err
	}
	if !slices.Contains(events.Families(), family) {
		return fmt.Errorf("there is no family %q: it must be one of %v", family, events.Families())
	}
	transactions, err := c.transactions()
	if err != nil {
		return err
	}
	if !transactions && held != "" {
		return fmt.Errorf("%s: %w", held, ErrHeld)
	}
	admin, err := sarama.NewClusterAdmin(c.Brokers, c.sarama())
	if err != nil {
		return fmt.Errorf("connect to make a public topic: %w", err)
	}
	defer admin.Close() //nolint:errcheck // the result is known
	before, err := c.describe(admin)
	if err != nil {
		return err
	}
	if err := admin.DeleteTopic(c.topic(family)); err != nil && !errors.Is(err, sarama.ErrUnknownTopicOrPartition) {
		return fmt.Errorf("delete topic %s: %w", c.topic(family), err)
	}
	if err := c.recreate(ctx, admin, family, before[family]); err != nil {
		return err
	}
	// The former positions do not count, but the status would show them.
	begin := map[int32]eventlog.GroupOffset{}
	for shard := range c.Shards {
		begin[shard] = eventlog.GroupOffset{}
	}
	if err := c.EventLog.CommitGroup(ctx, Group(c.Prefix), c.source(family), begin); err != nil || !transactions {
		return err
	}
	return c.fence()
}

// recreate makes the topic as soon as the former one is gone, unless a publisher is
// first.
func (c *Config) recreate(ctx context.Context, admin sarama.ClusterAdmin, family events.Family, former *sarama.TopicMetadata) error {
	for {
		now, err := c.describe(admin)
		if err != nil {
			return err
		}
		switch t := now[family]; {
		case t.Err == sarama.ErrUnknownTopicOrPartition:
			if err := c.create(admin, family); err != nil && !errors.Is(err, sarama.ErrTopicAlreadyExists) {
				return err
			}
		case t.Err == sarama.ErrNoError && (t.Uuid != former.Uuid || former.Err != sarama.ErrNoError):
			return c.check(admin, family, t)
		}
		if err := wait.For(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

// fence ends the sessions of all shards, whose holders then begin new ones.
func (c *Config) fence() error {
	for shard := range c.Shards {
		client, err := sarama.NewClient(c.Brokers, c.producing(shard, true))
		if err != nil {
			return fmt.Errorf("connect: %w", err)
		}
		producer, err := sarama.NewSyncProducerFromClient(client)
		if err == nil {
			err = producer.Close()
		}
		if e := client.Close(); err == nil {
			err = e
		}
		if err != nil {
			return fmt.Errorf("end the publishing of shard %d: %w", shard, err)
		}
	}
	return nil
}
