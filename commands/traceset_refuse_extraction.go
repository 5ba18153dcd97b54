package commands

import (
	"time"

	"netsim/events"
)

// RefuseExtraction records that a traceset's files cannot be used, which is final.
// It changes nothing unless the traceset is processing.
type RefuseExtraction struct {
	ID     string
	Failed events.TracesetMetadataFailed
}

// Decide implements Command.
func (c RefuseExtraction) Decide(t *Traceset, _ time.Time) (events.Data, error) {
	if t.live(c.ID) != nil || t.Status != TracesetProcessing {
		return nil, nil
	}
	return c.Failed, nil
}
