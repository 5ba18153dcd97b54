package commands

import (
	"time"

	"netsim/events"
	"netsim/fault"
)

// DeleteSimulation removes a simulation with its results, logs and snapshots. One
// that has not started is cancelled; a running one must be terminated first. What
// was billed stays. Repeating it is NotFound.
type DeleteSimulation struct {
	ID      string
	Reason  string // request, workspace or study
	Waiting bool   // only cancels it: one that has started is a Conflict
}

// Decide implements Command.
func (c DeleteSimulation) Decide(s *Simulation, _ time.Time) (events.Data, error) {
	switch {
	case !s.Exists || s.Deleted:
		return nil, fault.Missing("simulation", c.ID)
	case s.Status == Running:
		return nil, fault.New(fault.Conflict, "the simulation is %s: terminate the simulation first", s.Status)
	case c.Waiting && !s.waits():
		return nil, fault.New(fault.Conflict, "the simulation is %s, not waiting", s.Status)
	}
	return events.SimulationDeleted{Reason: c.Reason}, nil
}
