package commands

import (
	"slices"
	"time"

	"netsim/events"
)

// ReorderSimulation records that an engine accepted a run again after the remote
// engine lost it. It changes nothing when another worker has recorded that, or
// when the simulation has ended.
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
