package operate

import (
	"context"

	"netsim/cmd/connections"
	"netsim/events"
	"netsim/infra/facts"
	"netsim/stream/publisher"
)

// Republish makes the public topic of a family again. The publishers then publish its
// facts from offset 0 of the log.
func (t *Tools) Republish(ctx context.Context, family string) error {
	log, err := t.conn.EventLog.Describe(ctx)
	if err != nil {
		return err
	}
	held, err := facts.Holders(ctx, t.conn.Pool, connections.Publishers)
	if err != nil {
		return err
	}
	return publisher.Republish(ctx, t.conn.PublisherConfig(connections.Shards(log)), events.Family(family), held)
}
