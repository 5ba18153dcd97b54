package commands

import (
	"time"

	"netsim/events"
)

// StartSimulation records that an engine took the run. It changes nothing when
// another worker takes over a running simulation. A simulation that is validating
// or has ended is a Conflict, a deleted one NotFound.
type StartSimulation struct {
	Started events.SimulationStarted
}

// Decide implements Command.
func (c StartSimulation) Decide(s *Simulation, _ time.Time) (events.Data, error) {
	switch {
	case s.is(Provisioning):
		return c.Started, nil
	case s.is(Running):
		return nil, nil
	}
	return nil, notRunning(s)
}
