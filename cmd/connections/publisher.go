package connections

import (
	"time"

	"netsim/stream/publisher"
)

// Publishers names the subscriber of the leases of shards.
const Publishers = "publisher"

// publishEvery is the least time between two transactions of a shard without a backlog.
// Less costs CPU, more delays consumers.
const publishEvery = 100 * time.Millisecond

// PublisherConfig returns the settings of the publisher that the tools have, too: without
// what reads and judges facts.
func (s *Connections) PublisherConfig(shards int32) publisher.Config {
	return publisher.Config{
		Brokers: s.Config.Kafka, Connect: s.Broker, Prefix: s.Config.TopicPrefix, Shards: shards,
		Partitions: s.Config.PublicPartitions, Replication: s.Config.Replicas(), Retention: s.Config.PublicRetention,
		Relaxed: s.Config.Development, Migrated: !s.Config.Migrate, Untransacted: !s.Config.PublicTransactions, Every: publishEvery,
		EventLog: s.EventLog, Leases: s.Leases(Publishers, shards), Log: s.Log,
	}
}
