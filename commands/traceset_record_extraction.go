package commands

import (
	"time"

	"netsim/events"
)

// RecordExtraction records what extraction found in a traceset's files. It changes
// nothing unless the traceset is processing. Source: completions 6.1, 6.3.
type RecordExtraction struct {
	ID        string
	Extracted events.TracesetMetadataExtracted
}

// Decide implements Command.
func (c RecordExtraction) Decide(t *Traceset, _ time.Time) (events.Data, error) {
	if t.live(c.ID) != nil || t.Status != TracesetProcessing {
		return nil, nil
	}
	return c.Extracted, nil
}
