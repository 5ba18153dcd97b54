package commands

import (
	"time"

	"netsim/events"
	"netsim/fault"
)

// ResumeStudy continues a terminated study. Points that were stopped get new runs.
// Repeating it is a Conflict.
type ResumeStudy struct {
	ID string
}

// Decide implements Command.
func (c ResumeStudy) Decide(s *Study, _ time.Time) (events.Data, error) {
	if err := s.missing(c.ID); err != nil {
		return nil, err
	}
	if s.Status != Terminated {
		return nil, fault.New(fault.Conflict, "the study is %s, not terminated", s.Status)
	}
	return events.StudyResumed{Round: s.Round + 1}, nil
}
