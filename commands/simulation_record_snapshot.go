package commands

import (
	"time"

	"netsim/events"
)

// RecordSnapshot records that the state of a run is stored. Of a run that has
// ended, and one that is not newer than the last, it records nothing.
type RecordSnapshot struct {
	Checkpointed events.SimulationCheckpointed
}

// Decide implements Command.
func (c RecordSnapshot) Decide(s *Simulation, _ time.Time) (events.Data, error) {
	if s.Status != Running || c.Checkpointed.Index <= s.Checkpoint {
		return nil, nil
	}
	return c.Checkpointed, nil
}
