package service

import (
	"context"

	"netsim/infra/projector"
)

// Parked returns what is parked in a read model, of one stream or of all ("").
func (t *Tools) Parked(ctx context.Context, schema, stream string) ([]projector.Parked, error) {
	return projector.ReadParked(ctx, t.pool, schema, stream)
}

// ParkedBody returns the data of a parked fact, as the log has it.
func (t *Tools) ParkedBody(ctx context.Context, p projector.Parked) (string, error) {
	records, _, err := t.core.eventLog.Read(ctx, t.core.eventLog.Topic(p.Family), p.Partition, p.Offset, 1<<20, 0)
	if err != nil || len(records) == 0 {
		return "", err
	}
	return string(records[0].Value), nil
}

// RetryParked has the projector try parked streams again, one or all (""), and
// returns what is parked then.
func (t *Tools) RetryParked(ctx context.Context, stream string) ([]projector.Parked, error) {
	return projector.RetryParked(ctx, t.pool, stream)
}
