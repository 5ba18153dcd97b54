package commands

import (
	"slices"
	"time"

	"netsim/events"
	"netsim/fault"
)

// StartRun records that an engine took the run. A worker that takes over a
// running simulation changes nothing; an ended one is a conflict, and one that
// was deleted before it started is not found.
type StartRun struct {
	Started events.SimulationStarted
}

// Decide implements Command.
func (c StartRun) Decide(s *Simulation, _ time.Time) (events.Data, error) {
	switch {
	case s.is(Provisioning):
		return c.Started, nil
	case s.is(Running):
		return nil, nil
	}
	return nil, notRunning(s)
}

// ReorderRun records that an engine takes a run again which the engine does
// not know any more. When another worker has recorded that already, or the
// simulation has ended, it changes nothing.
type ReorderRun struct {
	Lost      string // run id
	Reordered events.SimulationReordered
}

// Decide implements Command.
func (c ReorderRun) Decide(s *Simulation, _ time.Time) (events.Data, error) {
	unchanged := s.RunID == c.Reordered.RunID && s.BaseURL == c.Reordered.BaseURL &&
		s.Stoppable == slices.Contains(c.Reordered.Capabilities, CanTerminate)
	if s.Status != Running || s.Engine != EngineRemote || s.RunID != c.Lost || unchanged {
		return nil, nil
	}
	return c.Reordered, nil
}

// ReportProgress records how far a run has come. Progress of a run that has
// ended, or that is not ahead of what is recorded, is dropped: a worker that
// resumes repeats what its predecessor reported. That nothing moves is recorded
// once, at what was reached before.
type ReportProgress struct {
	Progress     events.Progress
	StalledSince time.Time // when simulated time last moved; zero while it does
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

// RecordCheckpoint records that the state of a run is stored. Of a run that has
// ended, and one that is not newer than the last, it records nothing.
type RecordCheckpoint struct {
	Checkpointed events.SimulationCheckpointed
}

// Decide implements Command.
func (c RecordCheckpoint) Decide(s *Simulation, _ time.Time) (events.Data, error) {
	if s.Status != Running || c.Checkpointed.Index <= s.Checkpoint {
		return nil, nil
	}
	return c.Checkpointed, nil
}

// PublishResults records the stored file set. The same set again changes
// nothing.
type PublishResults struct {
	Published events.SimulationResultsPublished
}

// Decide implements Command.
func (c PublishResults) Decide(s *Simulation, _ time.Time) (events.Data, error) {
	if !s.Exists || s.Deleted || s.Published == c.Published.Manifest {
		return nil, nil
	}
	return c.Published, nil
}

func notRunning(s *Simulation) error {
	switch {
	case !s.Exists || s.Deleted:
		return fault.New(fault.NotFound, "the simulation does not exist")
	case s.Status == Validating || s.Status == Provisioning:
		return fault.New(fault.Conflict, "the simulation is %s, not running; delete the simulation to cancel it", s.Status)
	}
	return fault.New(fault.Conflict, "the simulation is %s, not running", s.Status)
}
