package commands

import (
	"time"

	"netsim/events"
	"netsim/fault"
)

// The kinds of requests for a simulation.
const (
	OriginStart  = "start"  // POST /simulations
	OriginSimple = "simple" // a simple submission
)

// RequestSimulation requests a run. The id is new or derives from the idempotency
// key, so that a repeated request makes one simulation.
type RequestSimulation struct {
	Requested events.SimulationRequested
}

// Decide implements Command.
func (c RequestSimulation) Decide(s *Simulation, _ time.Time) (events.Data, error) {
	if s.Exists {
		return nil, fault.New(fault.Conflict, "the simulation exists")
	}
	return c.Requested, nil
}
