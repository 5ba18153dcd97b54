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
	"netsim/infra/wait"
)

// ErrHeld is wrapped by Republish without transactions while a publisher runs.
var ErrHeld = errors.New("without transactions, a running publisher could write into the new topic from the middle: stop the processes with the role publisher first")

// Republish deletes a family's public topic and makes it again. The publishers, which
// may run, then publish every fact again from offset 0 of the log. Held says who
// publishes at the moment, "" for nobody. If Republish fails, publishers wait until it is
// called again.
//
// A mark in the place of the positions makes new sessions wait, and fencing ends the old
// ones. So nothing is sent between the deletion and the creation, and what a suspended
// process was sending is refused when it wakes up.
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
	if err := c.stop(ctx, family, transactions); err != nil {
		return err
	}
	if err := admin.DeleteTopic(c.topic(family)); err != nil && !errors.Is(err, sarama.ErrUnknownTopicOrPartition) {
		return fmt.Errorf("delete topic %s: %w", c.topic(family), err)
	}
	if err := c.recreate(ctx, admin, family, before[family]); err != nil {
		return err
	}
	return c.set(ctx, family, "")
}

// stop makes new sessions wait and ends the others.
func (c *Config) stop(ctx context.Context, family events.Family, transactions bool) error {
	for {
		if err := c.set(ctx, family, republishing); err != nil || !transactions {
			return err
		}
		if err := c.fence(); err != nil {
			return err
		}
		// The commit of a session that has ended by now may have replaced the mark.
		committed, err := c.EventLog.GroupOffsets(ctx, Group(c.Prefix), c.source(family), c.Shards)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(committed, func(g eventlog.GroupOffset) bool { return g.Metadata != republishing }) {
			return nil
		}
	}
}

// set sets the positions of a family to 0.
func (c *Config) set(ctx context.Context, family events.Family, metadata string) error {
	begin := map[int32]eventlog.GroupOffset{}
	for shard := range c.Shards {
		begin[shard] = eventlog.GroupOffset{Metadata: metadata}
	}
	return c.EventLog.CommitGroup(ctx, Group(c.Prefix), c.source(family), begin)
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
			err := c.check(admin, family, t)
			if !errors.Is(err, sarama.ErrUnknownTopicOrPartition) { // not every broker knows the new topic at once
				return err
			}
		}
		if err := wait.For(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

// fence ends the sessions of all shards.
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
