package commands

import (
	"time"

	"netsim/events"
)

// FailSimulation records that a run, or its staging, failed. It changes nothing
// unless the simulation is provisioning or running.
type FailSimulation struct {
	Failed events.SimulationFailed
}

// Decide implements Command.
func (c FailSimulation) Decide(s *Simulation, _ time.Time) (events.Data, error) {
	if !s.is(Running) && !s.is(Provisioning) {
		return nil, nil
	}
	return c.Failed, nil
}
