package commands

import (
	"time"

	"netsim/events"
)

// CompleteStudy records that the runs of all points have ended. It changes nothing
// unless the study is running and every point has been started.
type CompleteStudy struct{}

// Decide implements Command.
func (CompleteStudy) Decide(s *Study, _ time.Time) (events.Data, error) {
	if !s.runs() || s.Next < s.Points {
		return nil, nil
	}
	return events.StudyCompleted{Points: s.Points}, nil
}
