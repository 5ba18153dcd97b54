package commands

import (
	"time"

	"netsim/events"
)

// RecordSnapshot records that an engine snapshot of a run is stored. It changes
// nothing for a run that has ended, or a snapshot that is not newer than the last.
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
