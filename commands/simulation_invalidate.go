package commands

import (
	"time"

	"netsim/events"
)

// InvalidateSimulation records that the recheck failed, or that there is
// nothing to simulate: the run is invalid, for the reason given.
type InvalidateSimulation struct{ Reason string }

// Decide implements Command.
func (c InvalidateSimulation) Decide(s *Simulation, _ time.Time) (events.Data, error) {
	if !s.is(Validating) {
		return nil, nil
	}
	return events.SimulationInvalidated{Reason: c.Reason}, nil
}
