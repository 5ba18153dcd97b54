package commands

import (
	"time"

	"netsim/events"
	"netsim/fault"
)

// AttachTraceset makes the chakra application replay a traceset. Repeating it
// changes nothing. Source: completions 3.5 row 31.
type AttachTraceset struct {
	ID         string
	Match      Match
	TracesetID string
	RankCount  int64 // of the traceset
}

// Decide implements Command.
func (c AttachTraceset) Decide(s *Configuration, _ time.Time) (events.Data, error) {
	document, err := s.open(c.ID, c.Match)
	switch {
	case err != nil:
		return nil, err
	case !document.HasChakra():
		return nil, fault.New(fault.Validation, "configuration %s has no chakra application to replay a traceset", c.ID)
	case s.TracesetID == c.TracesetID && s.RankCount == c.RankCount:
		return nil, nil
	}
	if err := s.keepsMapping(document, c.RankCount); err != nil {
		return nil, err
	}
	return s.fitting(events.ConfigurationTracesetAttached{Version: s.Version + 1, TracesetID: c.TracesetID, RankCount: c.RankCount})
}
