package commands

import (
	"time"

	"netsim/events"
)

// ReportProgress records the progress of a run. Progress of a run that has ended,
// or that is not ahead of the recorded one, is dropped: a worker that resumes
// repeats what its predecessor reported. A stall is recorded once, with the larger
// of the reported and the recorded progress.
type ReportProgress struct {
	Progress     events.Progress
	StalledSince time.Time // when simulated time last advanced; zero while it advances
}

// Decide implements Command.
func (c ReportProgress) Decide(s *Simulation, _ time.Time) (events.Data, error) {
	ahead := c.Progress.SimulatedTimeNs > s.Progress.SimulatedTimeNs
	switch stalled := !c.StalledSince.IsZero(); {
	case s.Status != Running || stalled && s.Stalled || !stalled && !ahead:
		return nil, nil
	case !ahead:
		c.Progress = s.Progress
	}
	return events.SimulationProgressed{Progress: c.Progress, StalledSince: c.StalledSince}, nil
}
