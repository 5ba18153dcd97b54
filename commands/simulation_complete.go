package commands

import (
	"time"

	"netsim/events"
)

// CompleteSimulation records that a run reached its end. It changes nothing unless
// the simulation is running, so the first final event wins.
type CompleteSimulation struct {
	Completed events.SimulationCompleted
}

// Decide implements Command.
func (c CompleteSimulation) Decide(s *Simulation, _ time.Time) (events.Data, error) {
	if s.Status != Running {
		return nil, nil
	}
	return c.Completed, nil
}
