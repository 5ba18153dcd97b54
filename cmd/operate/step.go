package operate

import (
	"context"

	"netsim/infra/facts"
	"netsim/stream/history"
)

// StepPage is how many facts are read at a time.
const StepPage = 100

// Step calls do with each fact of a stream, in order, from a sequence on, at most as many
// as limit; 0 is all. With states it has those before and after each.
func (t *Tools) Step(ctx context.Context, stream string, from, limit int64, states bool, do func(*history.Fact) error) error {
	past := history.History{DB: t.conn.Pool, Log: t.conn.EventLog}
	all := func(*facts.Fact) bool { return true }
	for left := limit; from > 0 && (limit == 0 || left > 0); {
		size := int64(StepPage)
		if limit > 0 {
			size = min(size, left)
		}
		page, err := past.Read(ctx, history.Query{Stream: stream, From: from, Limit: int(size), States: states, Sees: all})
		if err != nil {
			return err
		}
		for i := range page.Facts {
			if err := do(&page.Facts[i]); err != nil {
				return err
			}
		}
		from, left = page.Next, left-int64(len(page.Facts))
	}
	return nil
}
