package commands

import (
	"time"

	"netsim/events"
)

// InvalidateSimulation records that a requested simulation failed its recheck, or
// that there is nothing to simulate. Repeating it changes nothing.
type InvalidateSimulation struct{ Reason string }

// Decide implements Command.
func (c InvalidateSimulation) Decide(s *Simulation, _ time.Time) (events.Data, error) {
	if !s.is(Validating) {
		return nil, nil
	}
	return events.SimulationInvalidated{Reason: c.Reason}, nil
}
