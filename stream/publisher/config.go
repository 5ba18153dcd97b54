package publisher

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"time"

	"netsim/events"
	"netsim/infra/broker"
	"netsim/infra/eventlog"
	"netsim/infra/facts"
)

// Config says what to publish, where and how.
type Config struct {
	Brokers []string          // host:port of some brokers of the cluster
	Connect *broker.Connector // how to connect to them; nil: in plain TCP
	Prefix  string            // prefix of topic names; default eventlog.DefaultPrefix
	Shards  int32             // partitions of the log's topics

	// Partitions, Replication and Retention apply to the public topics. Partitions is a
	// multiple of Shards, default Shards. Replication is -1 for the brokers' default.
	// A record is deleted when its fact is older than Retention; 0 is never. Retention is
	// also set on topics that exist.
	Partitions  int32
	Replication int
	Retention   time.Duration

	// Relaxed accepts topics that lose records with one broker. For development only.
	Relaxed bool
	// Untransacted publishes without transactions, also to brokers that have them.
	Untransacted bool

	// Migrated leaves the topics as they are: publishing waits while one is missing or has
	// another retention.
	Migrated bool

	EventLog EventLog
	Facts    Facts
	Judged   func(family events.Family, partition int32) int64 // the first offset that is not judged
	Leases   Leases
	Log      *slog.Logger
	Observe  func(Observation) // may be nil
	// SchemaID returns the id of a type's schema in the schema registry, and false while
	// there is none. It may be nil.
	SchemaID func(eventType string) (id int32, ok bool)
	Now      func() time.Time // default time.Now

	// Every is the least time from the begin of a transaction of a shard to that of the
	// next while there is no backlog; A fact that comes after a
	// pause is published at once.
	Every time.Duration

	checkEvery time.Duration                                   // default defaultCheck
	dial       func(network, address string) (net.Conn, error) // set by tests
	step       func(ctx context.Context, name string) error    // called between steps; set by tests
}

// Facts reads the facts of the log. facts.Reader implements it.
type Facts interface {
	Next(ctx context.Context, family events.Family, partition int32, from int64) (facts.Batch, error)
}

// EventLog is the log and the offsets of its consumer groups. eventlog.Kafka implements
// it.
type EventLog interface {
	Describe(ctx context.Context) (eventlog.Description, error)
	Read(ctx context.Context, topic string, partition int32, from int64, maxBytes int, wait time.Duration) ([]events.Record, int64, error)
	GroupOffsets(ctx context.Context, group, topic string, partitions int32) ([]eventlog.GroupOffset, error)
	CommitGroup(ctx context.Context, group, topic string, offsets map[int32]eventlog.GroupOffset) error
}

// Leases gives this process shards. facts.Leases implements it.
type Leases interface {
	Run(ctx context.Context, work func(ctx context.Context, held []facts.Lease) error) error
}

// Observation is the outcome of a transaction, or of what is one where the brokers have
// none.
type Observation struct {
	Outcome string                // committed or failed
	Facts   map[events.Family]int // that were published; none if it failed
	Took    time.Duration
}

// The outcomes of a transaction.
const (
	outcomeCommitted = "committed"
	outcomeFailed    = "failed"
)

// Topic returns the name of the family's public topic, for a prefix of topics.
func Topic(prefix string, family events.Family) string {
	return cmp.Or(prefix, eventlog.DefaultPrefix) + "public." + string(family)
}

// Group returns the name of the consumer group that has the publisher's positions in
// the log's topics, for a prefix of topics.
func Group(prefix string) string {
	if cmp.Or(prefix, eventlog.DefaultPrefix) == eventlog.DefaultPrefix {
		return "netsim-publisher"
	}
	return prefix + "netsim-publisher"
}

func (c *Config) topic(family events.Family) string { return Topic(c.Prefix, family) }

// source returns the name of the family's topic in the log.
func (c *Config) source(family events.Family) string {
	return cmp.Or(c.Prefix, eventlog.DefaultPrefix) + string(family)
}

func (c Config) withDefaults() (Config, error) {
	c.Prefix = cmp.Or(c.Prefix, eventlog.DefaultPrefix)
	c.Partitions = cmp.Or(c.Partitions, c.Shards)
	c.Replication = cmp.Or(c.Replication, -1)
	c.checkEvery = cmp.Or(c.checkEvery, defaultCheck)
	if c.Observe == nil {
		c.Observe = func(Observation) {}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.step == nil {
		c.step = func(ctx context.Context, _ string) error { return ctx.Err() }
	}
	switch {
	case len(c.Brokers) == 0:
		return c, errors.New("no address of a Kafka broker is configured")
	case c.Shards <= 0 || c.Partitions%c.Shards != 0:
		return c, errPartitions(c.Partitions, c.Shards)
	}
	return c, nil
}
