package service

import (
	"context"
	"fmt"
	"time"

	"netsim/infra/health"
	"netsim/infra/telemetry"
	"netsim/stream/contracts"
	"netsim/stream/publisher"
)

// publishers names the subscriber of the leases of shards.
const publishers = "publisher"

// publishEvery is the least time between two transactions of a shard without a backlog.
// Less costs CPU, more delays consumers.
const publishEvery = 100 * time.Millisecond

// publisherConfig returns the settings of the publisher. The tools have no watcher.
func (s *core) publisherConfig() publisher.Config {
	c := publisher.Config{
		Brokers: s.config.Kafka, Connect: s.broker, Prefix: s.config.TopicPrefix, Shards: s.shards,
		Partitions: s.config.PublicPartitions, Replication: s.config.replication(), Retention: s.config.PublicRetention,
		Relaxed: s.config.Development, Migrated: !s.config.Migrate, Untransacted: !s.config.PublicTransactions, Every: publishEvery,
		EventLog: s.eventLog, Facts: s.facts, Leases: s.leases(publishers), Log: s.log,
	}
	if s.watcher != nil {
		c.Judged = s.watcher.Next
	}
	return c
}

// publisher returns the publisher of a process with this role, or else nil.
func (s *core) publisher(schemas *contracts.Registry) (*publisher.Publisher, error) {
	if !s.config.has(RolePublisher) {
		return nil, nil
	}
	c := s.publisherConfig()
	c.Observe, c.SchemaID = observePublishing(s.metrics), schemas.SchemaID
	p, err := publisher.New(c)
	if err != nil {
		return nil, fmt.Errorf("NETSIM_PUBLIC_PARTITIONS is %d: %w", s.config.PublicPartitions, err)
	}
	return p, nil
}

// observePublishing returns the observer of transactions.
func observePublishing(m *telemetry.Metrics) func(publisher.Observation) {
	count, took := m.Counter("netsim_publisher_facts_total"), m.Histogram("netsim_publisher_transaction_duration_seconds")
	return func(o publisher.Observation) {
		took(o.Took.Seconds(), o.Outcome)
		for family, n := range o.Facts {
			count(float64(n), string(family))
		}
	}
}

// observePublisher samples the lag of the publisher.
func (s *core) observePublisher(p *publisher.Publisher) {
	const records, age, failures = "netsim_publisher_lag_records", "netsim_publisher_lag_seconds", "netsim_publisher_failures_total"
	s.metrics.Sample(func(emit telemetry.Emit) {
		r := p.Report()
		emit(records, float64(r.LagRecords))
		emit(age, r.LagAge.Seconds())
		emit(failures, float64(r.Failures))
	}, records, age, failures)
}

// publicStuck is how long publishing may fail before it counts as stuck. A restart of a
// broker or a move of a shard is shorter.
const publicStuck = 10 * time.Second

// probePublic degrades while facts cannot be published.
func (d *domain) probePublic(context.Context) health.State { return publicHealth(d.publisher.Report()) }

func publicHealth(r publisher.Report) health.State {
	if r.Failure == nil || r.Failing < publicStuck {
		return health.State{}
	}
	return health.State{
		Err:     fmt.Errorf("nothing could be published for %v: %w", r.Failing.Round(time.Second), r.Failure),
		Message: "facts are not published",
	}
}
