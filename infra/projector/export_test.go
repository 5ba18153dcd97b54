package projector

import (
	"context"
	"errors"
)

// RunWithoutLock projects as Run does, but without the lock.
func (p *Projector) RunWithoutLock(ctx context.Context) error {
	for {
		err := p.project(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if errors.Is(err, ErrOtherLog) || errors.Is(err, ErrOtherSchema) {
			return err
		}
	}
}

// RetryParked retries what is parked, as the start of a session does.
func (p *Projector) RetryParked(ctx context.Context) error {
	partitions, err := p.partitions(ctx)
	if err != nil {
		return err
	}
	return p.retry(ctx, partitions)
}
