package reactions

import (
	"context"
	"fmt"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/projections"
)

// Simulation drives the state of simulations: it checks a requested one again,
// enqueues the run of a validated one, and enqueues the removal of a deleted one's
// files (completions 5.1, 5.5).
type Simulation struct {
	Commands *handle.Handler
	DB       projections.Reader
	// Check returns the hash of the document that the simulation runs from, or the
	// reason why it cannot run. An error means that the check itself failed.
	Check        func(ctx context.Context, sim *projections.Simulation) (documentHash, reason string, err error)
	EnqueueRun   func(ctx context.Context, simulation string) error
	EnqueuePurge func(ctx context.Context, simulation string) error
}

// React reacts to simulations. The run of a simple submission is enqueued by
// Simple, when its inputs exist.
func (s *Simulation) React(ctx context.Context, f events.Fact) error {
	switch d := f.Data.(type) {
	case events.SimulationRequested:
		if d.Origin == commands.OriginStart {
			return s.recheck(ctx, &f)
		}
	case events.SimulationValidated:
		return s.EnqueueRun(ctx, f.Stream)
	case events.SimulationDeleted:
		return s.EnqueuePurge(ctx, f.Stream)
	}
	return nil
}

// recheck checks the inputs of the simulation as they are now, and records the
// result.
func (s *Simulation) recheck(ctx context.Context, f *events.Fact) error {
	sim, err := projections.FindSimulation(ctx, s.DB, f.Stream)
	if err != nil || sim.Status != commands.Validating {
		return err
	}
	to := handle.Target{Stream: f.Stream, PartitionKey: f.PartitionKey}
	hash, reason, err := s.Check(ctx, &sim)
	switch {
	case err != nil:
		return fmt.Errorf("recheck simulation %s: %w", f.Stream, err)
	case reason != "":
		_, err = handle.Command(ctx, s.Commands, to, handle.Because(f, "recheck"), commands.InvalidateSimulation{Reason: reason})
	default:
		_, err = handle.Command(ctx, s.Commands, to, handle.Because(f, "recheck"), commands.ValidateSimulation{
			Validated: events.SimulationValidated{DocumentHash: hash},
		})
	}
	return err
}
