package reactions

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/simulator/collective"
	"netsim/simulator/document"
	"netsim/simulator/presets"
)

// Simple creates the traceset and the configuration of a simple submission, and
// then enqueues its run (completions 4.3). Identical workloads of an account share
// one traceset.
type Simple struct {
	Commands   *handle.Handler
	Workloads  *Workloads
	EnqueueRun func(ctx context.Context, simulation string) error
}

// simpleTTLDays is how long the traceset of a simple submission is kept.
const simpleTTLDays = 7

// React reacts to simulations that a simple submission requested.
func (s *Simple) React(ctx context.Context, f events.Fact) error {
	requested, ok := f.Data.(events.SimulationRequested)
	if !ok || requested.Origin != commands.OriginSimple {
		return nil
	}
	if err := s.unfold(ctx, f.Stream, requested, handle.Because(&f, "unfold")); err != nil {
		return err
	}
	return s.EnqueueRun(ctx, f.Stream)
}

// Unfold creates the traceset and the configuration before React does, so that
// they exist when a submission is answered. Repeating it changes nothing.
func (s *Simple) Unfold(ctx context.Context, simulation string, requested events.SimulationRequested) error {
	return s.unfold(ctx, simulation, requested, handle.System(simulation, "unfold"))
}

func (s *Simple) unfold(ctx context.Context, simulation string, requested events.SimulationRequested, from handle.Origin) error {
	submission, err := presets.ParseSimple(requested.Simple)
	if err != nil {
		return fmt.Errorf("simulation %s: %w", simulation, err)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		if err := s.createTraceset(ctx, submission, requested, from); err != nil {
			return fmt.Errorf("simulation %s: create the traceset: %w", simulation, err)
		}
		return nil
	})
	group.Go(func() error {
		if err := s.createConfiguration(ctx, submission, requested, from); err != nil {
			return fmt.Errorf("simulation %s: create the configuration: %w", simulation, err)
		}
		return nil
	})
	return group.Wait()
}

func (s *Simple) createTraceset(ctx context.Context, submission presets.Simple, requested events.SimulationRequested, from handle.Origin) error {
	_, err := s.Workloads.Keep(ctx, submission.Groups, events.TracesetCreated{
		AccountID: requested.AccountID, WorkspaceID: requested.WorkspaceID, TTLDays: simpleTTLDays,
	}, from)
	return err
}

func (s *Simple) createConfiguration(ctx context.Context, submission presets.Simple, requested events.SimulationRequested, from handle.Origin) error {
	doc, err := submission.Document()
	if err != nil {
		return err
	}
	text, err := document.Canonical(doc)
	if err != nil {
		return err
	}
	_, err = handle.Command(ctx, s.Commands,
		handle.Target{Stream: requested.ConfigurationID, PartitionKey: requested.WorkspaceID}, from,
		commands.CreateConfiguration{Created: events.ConfigurationCreated{
			AccountID: requested.AccountID, WorkspaceID: requested.WorkspaceID, Name: requested.Name,
			Document: text, ComponentCount: int64(doc.ComponentCount()),
			Status: commands.Validated, TracesetID: requested.TracesetID, RankCount: int64(collective.Ranks(submission.Groups)),
		}})
	return err
}
