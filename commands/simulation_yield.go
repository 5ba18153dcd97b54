package commands

import (
	"time"

	"netsim/events"
)

// YieldSimulation records that a worker left a run for another one, after it stored an
// engine snapshot. It changes nothing for a run that does not run or has yielded.
type YieldSimulation struct {
	Yielded events.SimulationYielded
}

// Decide implements Command.
func (c YieldSimulation) Decide(s *Simulation, _ time.Time) (events.Data, error) {
	if !s.is(Running) || s.Yielded {
		return nil, nil
	}
	if c.Yielded.SimulatedTimeNs < s.Progress.SimulatedTimeNs {
		c.Yielded.Progress = s.Progress
	}
	return c.Yielded, nil
}
