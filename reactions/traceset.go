package reactions

import (
	"context"

	"netsim/commands"
	"netsim/events"
)

// Traceset enqueues the extraction of an uploaded traceset's metadata (completions
// 6.1).
type Traceset struct {
	EnqueueExtraction func(ctx context.Context, traceset string) error
}

// React reacts to tracesets.
func (t *Traceset) React(ctx context.Context, f events.Fact) error {
	if d, ok := f.Data.(events.TracesetCreated); ok && d.Status == commands.TracesetProcessing {
		return t.EnqueueExtraction(ctx, f.Stream)
	}
	return nil
}
