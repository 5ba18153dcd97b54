package commands

import (
	"time"

	"netsim/events"
	"netsim/fault"
)

// TerminateSimulation stops a running simulation for good. The worker publishes
// the results so far. A remote engine either agreed before the command or is
// notified by the worker. Repeating it is a Conflict.
type TerminateSimulation struct {
	ID string
	By string // user id
	// Dominated is why a study stops the run, if it does. A run that has published its
	// results is at its end, and goes on.
	Dominated events.Domination
}

// Decide implements Command.
func (c TerminateSimulation) Decide(s *Simulation, _ time.Time) (events.Data, error) {
	switch {
	case !s.Exists || s.Deleted:
		return nil, fault.Missing("simulation", c.ID)
	case s.Status != Running:
		return nil, notRunning(s)
	case s.Engine == "":
		return nil, fault.New(fault.Validation, "simulation %s has no platform link and cannot be terminated", c.ID)
	case s.Engine == EngineRemote && !s.Stoppable:
		return nil, fault.New(fault.NotImplemented, "the engine of simulation %s cannot terminate a run", c.ID)
	case c.Dominated.Reason != "" && s.Published != "":
		return nil, nil
	}
	return events.SimulationTerminated{Progress: s.Progress, By: c.By, Dominated: c.Dominated}, nil
}
