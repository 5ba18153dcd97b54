package commands

import (
	"time"

	"netsim/events"
)

// ResumeSimulation records that a worker continues a run that had yielded. It changes
// nothing for any other.
type ResumeSimulation struct{}

// Decide implements Command.
func (ResumeSimulation) Decide(s *Simulation, _ time.Time) (events.Data, error) {
	if !s.is(Running) || !s.Yielded {
		return nil, nil
	}
	return events.SimulationResumed{}, nil
}
