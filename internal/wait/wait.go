// Package wait pauses a goroutine for a time that its context can cut short.
package wait

import (
	"context"
	"time"
)

// For waits for d, or until ctx ends. It returns nil in the first case and
// ctx.Err() in the second.
func For(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
