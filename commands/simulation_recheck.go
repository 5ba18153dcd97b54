package commands

import (
	"time"

	"netsim/events"
)

// ValidateSimulation records that the recheck of a requested simulation
// passed. Repeating it changes nothing.
type ValidateSimulation struct {
	Validated events.SimulationValidated
}

// Decide implements Command.
func (c ValidateSimulation) Decide(s *Simulation, _ time.Time) (events.Data, error) {
	if !s.is(Validating) {
		return nil, nil
	}
	return c.Validated, nil
}

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
