package commands

import (
	"slices"

	"netsim/events"
	"netsim/fault"
)

// The states of a simulation (completions 5.1).
const (
	Validating   = "validating"
	Provisioning = "provisioning"
	Running      = "running"
	Completed    = "completed"
	Failed       = "failed"
	Terminated   = "terminated"
	// Invalid is shared with configurations.
)

// The engines of a platform link, and the capability of a remote engine
// (completions 5.4).
const (
	EngineBuiltin = "builtin"
	EngineRemote  = "remote"
	CanTerminate  = "terminate"
)

// Final reports whether a state is final.
func Final(status string) bool {
	switch status {
	case Completed, Failed, Terminated, Invalid:
		return true
	}
	return false
}

// Simulation is the state that decisions about a simulation need.
type Simulation struct {
	created
	requested
	Status     string          `json:"status,omitempty"`
	Engine     string          `json:"engine,omitempty"` // of the platform link; "" before the start
	RunID      string          `json:"runId,omitempty"`
	BaseURL    string          `json:"baseUrl,omitempty"`   // of a remote engine
	Stoppable  bool            `json:"stoppable,omitempty"` // the remote engine can terminate the run
	Progress   events.Progress `json:"progress,omitzero"`
	Stalled    bool            `json:"stalled,omitempty"`    // since the last progress
	Checkpoint int64           `json:"checkpoint,omitempty"` // index of the last snapshot, 0 before the first
	Yielded    bool            `json:"yielded,omitempty"`    // it waits for a worker
	Published  string          `json:"published,omitempty"`  // manifest of the results
	Deleted    bool            `json:"deleted,omitempty"`
}

// is reports whether the simulation is in a state, and not deleted.
func (s *Simulation) is(status string) bool { return s.Status == status && !s.Deleted }

// Evolve applies an event.
func (s *Simulation) Evolve(e events.Event) {
	switch d := e.Data.(type) {
	case events.SimulationRequested:
		s.Exists, s.Status, s.Request = true, Validating, e.CorrelationID
		if d.Origin == OriginSimple {
			s.Status = Provisioning
		}
	case events.SimulationValidated:
		s.Status = Provisioning
	case events.SimulationInvalidated:
		s.Status = Invalid
	case events.SimulationStarted:
		s.Status, s.Engine, s.RunID, s.BaseURL = Running, d.Engine, d.RunID, d.BaseURL
		s.Stoppable = slices.Contains(d.Capabilities, CanTerminate)
	case events.SimulationReordered:
		s.RunID, s.BaseURL, s.Stoppable = d.RunID, d.BaseURL, slices.Contains(d.Capabilities, CanTerminate)
	case events.SimulationProgressed:
		s.Progress, s.Stalled = d.Progress, !d.StalledSince.IsZero()
	case events.SimulationCheckpointed:
		s.Checkpoint = d.Index
	case events.SimulationYielded:
		s.Yielded, s.Progress, s.Stalled = true, d.Progress, false
	case events.SimulationResumed:
		s.Yielded = false
	case events.SimulationResultsPublished:
		s.Published = d.Manifest
	case events.SimulationCompleted:
		s.Status, s.Progress = Completed, d.Progress
	case events.SimulationFailed:
		s.Status, s.Progress = Failed, d.Progress
	case events.SimulationTerminated:
		s.Status, s.Progress = Terminated, d.Progress
	case events.SimulationDeleted:
		s.Deleted = true
	}
}

// waits reports whether the simulation has been requested and has not started.
func (s *Simulation) waits() bool { return s.Status == Validating || s.Status == Provisioning }

func notRunning(s *Simulation) error {
	switch {
	case !s.Exists || s.Deleted:
		return fault.New(fault.NotFound, "the simulation does not exist")
	case s.waits():
		return fault.New(fault.Conflict, "the simulation is %s, not running; delete the simulation to cancel it", s.Status)
	}
	return fault.New(fault.Conflict, "the simulation is %s, not running", s.Status)
}
