package operate

import (
	"context"

	"netsim/events"
	"netsim/infra/facts"
	"netsim/infra/projector"
)

// Parked returns the parked facts of a stream in a read model, or of all streams for "".
func (t *Tools) Parked(ctx context.Context, schema, stream string) ([]projector.Parked, error) {
	return projector.ReadParked(ctx, t.conn.Pool, schema, stream)
}

// ParkedBody reads the data of a parked fact from the log.
func (t *Tools) ParkedBody(ctx context.Context, p projector.Parked) (string, error) {
	r, err := facts.At(ctx, t.conn.EventLog, events.Position{Family: p.Family, Partition: p.Partition, Offset: p.Offset})
	return string(r.Value), err
}

// RetryParked makes the projector apply the parked facts of a stream again, or of all
// streams for "". It returns the facts that are still parked.
func (t *Tools) RetryParked(ctx context.Context, stream string) ([]projector.Parked, error) {
	return projector.RetryParked(ctx, t.conn.Pool, stream)
}
