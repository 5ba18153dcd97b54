package service

import (
	"context"

	"netsim/infra/projector"
)

// Parked returns the parked facts of a stream in a read model, or of all streams for "".
func (t *Tools) Parked(ctx context.Context, schema, stream string) ([]projector.Parked, error) {
	return projector.ReadParked(ctx, t.pool, schema, stream)
}

// ParkedBody reads the data of a parked fact from the log.
func (t *Tools) ParkedBody(ctx context.Context, p projector.Parked) (string, error) {
	records, _, err := t.core.eventLog.Read(ctx, t.core.eventLog.Topic(p.Family), p.Partition, p.Offset, 1<<20, 0)
	if err != nil || len(records) == 0 {
		return "", err
	}
	return string(records[0].Value), nil
}

// RetryParked makes the projector apply the parked facts of a stream again, or of all
// streams for "". It returns the facts that are still parked.
func (t *Tools) RetryParked(ctx context.Context, stream string) ([]projector.Parked, error) {
	return projector.RetryParked(ctx, t.pool, stream)
}
