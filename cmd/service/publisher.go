package service

import (
	"context"
	"fmt"
	"time"

	"netsim/cmd/settings"
	"netsim/infra/health"
	"netsim/infra/telemetry"
	"netsim/stream/contracts"
	"netsim/stream/publisher"
)

// publisher returns the publisher of a process with this role, or else nil.
func (s *base) publisher(schemas *contracts.Registry) (*publisher.Publisher, error) {
	if !s.config.Has(settings.RolePublisher) {
		return nil, nil
	}
	c := s.PublisherConfig(s.shards)
	c.Facts, c.Judged = s.facts, s.watcher.Next
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
func (s *base) observePublisher(p *publisher.Publisher) {
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
