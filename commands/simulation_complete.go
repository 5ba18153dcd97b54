package commands

import (
	"time"

	"netsim/events"
)

// CompleteRun records that a run reached its end. The first final event wins:
// on an ended simulation it changes nothing.
type CompleteRun struct {
	Completed events.SimulationCompleted
}

// Decide implements Command.
func (c CompleteRun) Decide(s *Simulation, _ time.Time) (events.Data, error) {
	if s.Status != Running {
		return nil, nil
	}
	return c.Completed, nil
}
