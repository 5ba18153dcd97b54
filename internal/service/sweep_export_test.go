package service

import (
	"context"
	"time"
)

// SweepHeads deletes old heads, as the daily job does at the given time.
func (t *Tools) SweepHeads(ctx context.Context, now time.Time) (err error) {
	if t.core.auditKey, err = t.core.config.auditKey(); err != nil {
		return err
	}
	return t.core.sweepHeads(ctx, now)
}
