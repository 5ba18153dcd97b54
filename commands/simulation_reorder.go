package commands

import (
	"slices"
	"time"

	"netsim/events"
)

// ReorderSimulation records that an engine takes a run again which the engine does
// not know any more. When another worker has recorded that already, or the
// simulation has ended, it changes nothing.
type ReorderSimulation struct {
	Lost      string // run id
	Reordered events.SimulationReordered
}

// Decide implements Command.
func (c ReorderSimulation) Decide(s *Simulation, _ time.Time) (events.Data, error) {
	unchanged := s.RunID == c.Reordered.RunID && s.BaseURL == c.Reordered.BaseURL &&
		s.Stoppable == slices.Contains(c.Reordered.Capabilities, CanTerminate)
	if s.Status != Running || s.Engine != EngineRemote || s.RunID != c.Lost || unchanged {
		return nil, nil
	}
	return c.Reordered, nil
}
