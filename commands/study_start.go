package commands

import (
	"time"

	"netsim/events"
	"netsim/fault"
)

// StartStudy starts a study. The id is new or derives from the idempotency key, so that
// a repeated request makes one study.
type StartStudy struct {
	Started events.StudyStarted
}

// Decide implements Command.
func (c StartStudy) Decide(s *Study, _ time.Time) (events.Data, error) {
	if s.Exists {
		return nil, fault.New(fault.Conflict, "the study exists")
	}
	return c.Started, nil
}
