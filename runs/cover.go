package runs

import (
	"context"
	"time"

	"netsim/fault"
)

// creditExhausted is the reason of a run that ends because its cost has passed the credit held
// for it, and none is free (completions section 11).
const creditExhausted = "credit exhausted"

const (
	firstCover = time.Second // of a run, until its cost is first compared with its hold
	retryCover = time.Second // after an error
)

// covered compares the cost of a run with the credit held for it. It returns when to do so
// again, or that the run has spent it. While the two are not known, the run goes on.
func (r *Runner) covered(ctx context.Context, id string) (again time.Time, spent bool) {
	if r.Cover == nil {
		return r.Now().Add(100 * 365 * 24 * time.Hour), false
	}
	again, err := r.Cover(ctx, id)
	switch {
	case fault.Is(err, fault.PaymentRequired):
		return again, true
	case err != nil:
		if ctx.Err() == nil {
			r.Log.WarnContext(ctx, "the cost of a run could not be compared with its credit", "simulation", id, "error", err)
		}
		return r.Now().Add(retryCover), false
	}
	return again, false
}
