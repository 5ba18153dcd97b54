package commands

import (
	"time"

	"netsim/events"
	"netsim/fault"
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

// FailRun records that a run, or its staging, went wrong. On a simulation that
// has ended or is deleted it changes nothing.
type FailRun struct {
	Failed events.SimulationFailed
}

// Decide implements Command.
func (c FailRun) Decide(s *Simulation, _ time.Time) (events.Data, error) {
	if !s.is(Running) && !s.is(Provisioning) {
		return nil, nil
	}
	return c.Failed, nil
}

// TerminateSimulation stops a running simulation for good. The worker sees it
// and publishes what there is. A remote engine has agreed before, or is told by
// the worker.
type TerminateSimulation struct {
	ID string
	By string // user id
}

// Decide implements Command.
func (c TerminateSimulation) Decide(s *Simulation, _ time.Time) (events.Data, error) {
	switch {
	case !s.Exists || s.Deleted:
		return nil, notFound("simulation", c.ID)
	case s.Status != Running:
		return nil, notRunning(s)
	case s.Engine == "":
		return nil, fault.New(fault.Validation, "simulation %s has no platform link and cannot be terminated", c.ID)
	case s.Engine == EngineRemote && !s.Stoppable:
		return nil, fault.New(fault.NotImplemented, "the engine of simulation %s cannot terminate a run", c.ID)
	}
	return events.SimulationTerminated{Progress: s.Progress, By: c.By}, nil
}
