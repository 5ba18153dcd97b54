package commands

import (
	"netsim/events"
	"netsim/fault"
)

// The kinds of studies: what the base of a study is.
const (
	StudyOfSimple        = "simple"
	StudyOfConfiguration = "configuration"
)

// Study is the state that decisions about a study need. It is running, completed or
// terminated.
type Study struct {
	created
	requested
	Status  string `json:"status,omitempty"`
	Points  int64  `json:"points,omitempty"`
	Next    int64  `json:"next,omitempty"`  // the first point without a run
	Round   int64  `json:"round,omitempty"` // how often it was resumed
	Deleted bool   `json:"deleted,omitempty"`
}

// Evolve applies an event.
func (s *Study) Evolve(e events.Event) {
	switch d := e.Data.(type) {
	case events.StudyStarted:
		s.Exists, s.Status, s.Points, s.Request = true, Running, d.Points, e.CorrelationID
	case events.StudyAdvanced:
		s.Next = d.To
	case events.StudyCompleted:
		s.Status = Completed
	case events.StudyTerminated:
		s.Status = Terminated
	case events.StudyResumed:
		s.Status, s.Round = Running, d.Round
	case events.StudyDeleted:
		s.Deleted = true
	}
}

// missing returns NotFound unless the study exists.
func (s *Study) missing(id string) error {
	if !s.Exists || s.Deleted {
		return fault.Missing("study", id)
	}
	return nil
}

// runs reports whether the study starts points.
func (s *Study) runs() bool { return s.Status == Running && !s.Deleted }
