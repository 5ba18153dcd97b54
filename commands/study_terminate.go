package commands

import (
	"time"

	"netsim/events"
	"netsim/fault"
)

// TerminateStudy stops a running study: no more points are started, and a worker stops
// its unfinished runs. Repeating it is a Conflict.
type TerminateStudy struct {
	ID     string
	Reason string // request, or why the service ends it
}

// Decide implements Command.
func (c TerminateStudy) Decide(s *Study, _ time.Time) (events.Data, error) {
	if err := s.missing(c.ID); err != nil {
		return nil, err
	}
	if s.Status != Running {
		return nil, fault.New(fault.Conflict, "the study is %s, not running", s.Status)
	}
	return events.StudyTerminated{Reason: c.Reason}, nil
}
