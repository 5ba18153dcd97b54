package lake

import "context"

// SetHook makes the lake call f at each step of its protocol. An error ends the
// attempt there, as the end of the process would.
func (l *Lake) SetHook(f func(step string) error) { l.hook = f }

// Tidy merges and deletes once, as the holder of the lease with the epoch.
func (l *Lake) Tidy(ctx context.Context, epoch int64) error {
	c, err := l.open(ctx)
	if err != nil {
		return err
	}
	return (&writer{Lake: l, catalog: c, epoch: epoch}).tidy(ctx)
}
