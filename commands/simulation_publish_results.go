package commands

import (
	"time"

	"netsim/events"
)

// PublishResults records the stored result files. Repeating it with the same files
// changes nothing.
type PublishResults struct {
	Published events.SimulationResultsPublished
}

// Decide implements Command.
func (c PublishResults) Decide(s *Simulation, _ time.Time) (events.Data, error) {
	if !s.Exists || s.Deleted || s.Published == c.Published.Manifest {
		return nil, nil
	}
	return c.Published, nil
}
