package operate

import (
	"cmp"
	"context"
	"slices"
	"time"

	"netsim/cmd/connections"
	"netsim/cmd/service"
	"netsim/events"
	"netsim/infra/facts"
	"netsim/stream/publisher"
)

// PublicStatus is how far the public topics are.
type PublicStatus struct {
	Transactions bool
	Publisher    string // the processes that publish, with their shards; "" for none
	Partitions   []publisher.Status
}

// PublicStatus returns how far each partition of the log is published, those that lag
// most first.
func (t *Tools) PublicStatus(ctx context.Context) (s PublicStatus, err error) {
	live, err := t.live(ctx)
	if err != nil {
		return s, err
	}
	judged := make([]events.Position, len(live.Partitions))
	for i, part := range live.Partitions {
		judged[i] = events.Position{Family: part.Family, Partition: part.Partition, Offset: part.Next}
	}
	if s.Transactions, err = publisher.HasTransactions(service.PublisherConfig(t.conn, 0)); err != nil {
		return s, err
	}
	if s.Publisher, err = facts.Holders(ctx, t.conn.Pool, service.Publishers); err != nil {
		return s, err
	}
	s.Partitions, err = publisher.ReadStatus(ctx, t.conn.EventLog, t.conn.Config.TopicPrefix, judged, time.Now())
	slices.SortStableFunc(s.Partitions, func(a, b publisher.Status) int { return cmp.Compare(b.LagRecords, a.LagRecords) })
	return s, err
}

// Republish makes the public topic of a family again. The publishers then publish its
// facts from offset 0 of the log.
func (t *Tools) Republish(ctx context.Context, family string) error {
	log, err := t.conn.EventLog.Describe(ctx)
	if err != nil {
		return err
	}
	held, err := facts.Holders(ctx, t.conn.Pool, service.Publishers)
	if err != nil {
		return err
	}
	return publisher.Republish(ctx, service.PublisherConfig(t.conn, connections.Shards(log)), events.Family(family), held)
}
