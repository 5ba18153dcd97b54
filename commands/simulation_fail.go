package commands

import (
	"time"

	"netsim/events"
)

// FailSimulation records that a run, or its staging, failed. On a simulation that
// has ended or is deleted it changes nothing.
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
