// Package unfold makes what a simple submission consists of: its traceset and its
// configuration.
package unfold

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/content/simple"
	"netsim/events"
	"netsim/infra/recent"
	"netsim/simulator/document"
	"netsim/simulator/presets"
)

// Submissions creates the traceset and the configuration of each simple submission, and
// then enqueues its run (completions 4.3). Identical workloads of an account share one
// traceset.
type Submissions struct {
	Commands   *handle.Handler
	Workloads  *Workloads
	EnqueueRun func(ctx context.Context, simulation string) error

	mu        sync.Mutex
	documents recent.Cache[presets.Outline, made]
}

// made is the canonical text of a document.
type made struct {
	text       string
	components int64
}

// maxDocuments is how many documents are kept. The points of a study have one or few.
const maxDocuments = 8

// document returns the document of a submission. To make it takes longer than the rest of
// the configuration.
func (s *Submissions) document(submission *simple.Submission) (made, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := submission.Outline()
	if m, known := s.documents.Get(of); known {
		return m, nil
	}
	doc, err := of.Document()
	if err != nil {
		return made{}, err
	}
	text, err := document.Canonical(doc)
	if err != nil {
		return made{}, err
	}
	m := made{text, int64(doc.ComponentCount())}
	s.documents.Put(of, m)
	s.documents.Turn(maxDocuments)
	return m, nil
}

// ttlDays is how long the traceset of a simple submission is kept.
const ttlDays = 7

// React reacts to simulations that a simple submission requested.
func (s *Submissions) React(ctx context.Context, f events.Fact) error {
	requested, ok := f.Data.(events.SimulationRequested)
	if !ok || requested.Origin != commands.OriginSimple {
		return nil
	}
	submission, err := simple.Read(requested.Simple)
	if err != nil {
		return fmt.Errorf("simulation %s: %w", f.Stream, err)
	}
	if err := s.unfold(ctx, f.Stream, requested, submission, handle.Because(&f, "unfold")); err != nil {
		return err
	}
	return s.EnqueueRun(ctx, f.Stream)
}

// Unfold creates the traceset and the configuration of a submission before React does, so
// that they exist when the submission is answered. Repeating it changes nothing. Of the
// origin, the request and the cause count.
func (s *Submissions) Unfold(ctx context.Context, from handle.Origin, simulation string, requested events.SimulationRequested, submission *simple.Submission) error {
	return s.unfold(ctx, simulation, requested, submission, from.Derive(simulation, "unfold"))
}

func (s *Submissions) unfold(ctx context.Context, simulation string, requested events.SimulationRequested, submission *simple.Submission, from handle.Origin) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		if err := s.createTraceset(ctx, &submission.Workload, requested, from); err != nil {
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

func (s *Submissions) createTraceset(ctx context.Context, w *simple.Workload, requested events.SimulationRequested, from handle.Origin) error {
	_, err := s.Workloads.Keep(ctx, w, events.TracesetCreated{
		AccountID: requested.AccountID, WorkspaceID: requested.WorkspaceID, TTLDays: ttlDays,
	}, from)
	return err
}

func (s *Submissions) createConfiguration(ctx context.Context, submission *simple.Submission, requested events.SimulationRequested, from handle.Origin) error {
	doc, err := s.document(submission)
	if err != nil {
		return err
	}
	_, err = handle.Command(ctx, s.Commands,
		handle.Target{Stream: requested.ConfigurationID, PartitionKey: requested.WorkspaceID}, from,
		commands.CreateConfiguration{Created: events.ConfigurationCreated{
			AccountID: requested.AccountID, WorkspaceID: requested.WorkspaceID, Name: requested.Name,
			Document: doc.text, ComponentCount: doc.components,
			Status: commands.Validated, TracesetID: requested.TracesetID, RankCount: submission.Workload.Ranks,
		}})
	return err
}
