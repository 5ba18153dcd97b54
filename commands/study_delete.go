package commands

import (
	"time"

	"netsim/events"
	"netsim/fault"
)

// ReasonWorkspace is the reason of deletions that follow that of the workspace.
const ReasonWorkspace = "workspace"

// DeleteStudy removes a study; a worker then deletes its runs. A running one must be
// terminated first, unless its workspace is deleted. What was billed stays. Repeating
// it is NotFound.
type DeleteStudy struct {
	ID     string
	Reason string // request or workspace
}

// Decide implements Command.
func (c DeleteStudy) Decide(s *Study, _ time.Time) (events.Data, error) {
	if err := s.missing(c.ID); err != nil {
		return nil, err
	}
	if s.Status == Running && c.Reason != ReasonWorkspace {
		return nil, fault.New(fault.Conflict, "the study is %s: terminate the study first", s.Status)
	}
	return events.StudyDeleted{Reason: c.Reason}, nil
}
