package commands

import (
	"time"

	"netsim/events"
)

// AdvanceStudy gives the points from From to Advanced.To their runs or results. It
// changes nothing if the study is not running, or if the points before From are not
// all and only those that have them: another worker was first.
type AdvanceStudy struct {
	From     int64
	Advanced events.StudyAdvanced
}

// Decide implements Command.
func (c AdvanceStudy) Decide(s *Study, _ time.Time) (events.Data, error) {
	if !s.runs() || s.Next != c.From || c.Advanced.To <= s.Next || c.Advanced.To > s.Points {
		return nil, nil
	}
	return c.Advanced, nil
}
