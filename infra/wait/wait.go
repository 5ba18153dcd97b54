// Package wait pauses a goroutine for a duration or until its context ends, and says how
// long to pause before something that failed is tried again.
package wait

import (
	"context"
	"time"
)

// For waits for d, or until ctx ends. It returns nil after d, or ctx.Err() if ctx has
// ended.
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
