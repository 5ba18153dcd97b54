package commands

import (
	"time"

	"netsim/events"
	"netsim/fault"
)

// DeleteSimulation removes an ended simulation with its results, logs and
// checkpoints. What was billed stays.
type DeleteSimulation struct {
	ID     string
	Reason string // request or workspace
}

// Decide implements Command.
func (c DeleteSimulation) Decide(s *Simulation, _ time.Time) (events.Data, error) {
	switch {
	case !s.Exists || s.Deleted:
		return nil, notFound("simulation", c.ID)
	case !Final(s.Status):
		return nil, fault.New(fault.Conflict, "the simulation is %s: terminate the simulation first", s.Status)
	}
	return events.SimulationDeleted{Reason: c.Reason}, nil
}
