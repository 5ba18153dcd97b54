package publisher

import (
	"context"
	"time"

	"netsim/events"
	"netsim/infra/eventlog"
)

// Status is how far a partition of the log is published.
type Status struct {
	Family     events.Family
	Partition  int32   // of the log
	Topic      string  // the public one
	Next       int64   // the first offset that is not published
	LagRecords int64   // judged and not published
	LagSeconds float64 // since the log recorded the oldest of them
}

// ReadStatus compares what the publishers, in any process, have committed with what is
// judged: for each partition the first offset that is not.
func ReadStatus(ctx context.Context, log EventLog, prefix string, judged []events.Position, now time.Time) ([]Status, error) {
	partitions := map[events.Family]int32{}
	for _, at := range judged {
		partitions[at.Family] = max(partitions[at.Family], at.Partition+1)
	}
	committed := map[events.Family][]eventlog.GroupOffset{}
	c := Config{Prefix: prefix}
	for family, n := range partitions {
		var err error
		if committed[family], err = log.GroupOffsets(ctx, Group(prefix), c.source(family), n); err != nil {
			return nil, err
		}
	}
	all := make([]Status, len(judged))
	for i, at := range judged {
		s := Status{Family: at.Family, Partition: at.Partition, Topic: Topic(prefix, at.Family), Next: committed[at.Family][at.Partition].Next}
		if s.LagRecords = max(0, at.Offset-s.Next); s.LagRecords > 0 {
			age, err := eventlog.Age(ctx, log, c.source(at.Family), at.Partition, s.Next, now)
			if err != nil {
				return nil, err
			}
			s.LagSeconds = age.Seconds()
		}
		all[i] = s
	}
	return all, nil
}

// HasTransactions reports whether publishers with the settings use transactions.
func HasTransactions(c Config) (bool, error) { return c.transactions() }
