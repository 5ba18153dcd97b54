package commands

import (
	"time"

	"netsim/events"
)

// StartSimulation records that an engine took the run. A worker that takes over a
// running simulation changes nothing; an ended one is a conflict, and one that
// was deleted before it started is not found.
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
