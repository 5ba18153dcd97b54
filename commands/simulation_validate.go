package commands

import (
	"time"

	"netsim/events"
)

// ValidateSimulation records that a requested simulation passed its recheck.
// Repeating it changes nothing.
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
