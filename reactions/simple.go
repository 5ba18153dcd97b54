package reactions

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/zeebo/blake3"
	"golang.org/x/sync/errgroup"

	"netsim/commands"
	"netsim/events"
	"netsim/fault"
	"netsim/infra/objects"
	"netsim/simulator/blueprint"
	"netsim/simulator/collective"
	"netsim/simulator/design"
)

// Simple makes what a simple submission asks for beside its simulation: the
// traceset, the configuration, and then the run (completions 4.3). Identical
// workloads of an account share one traceset.
type Simple struct {
	Commands   *commands.Handler
	Objects    *objects.Store
	EnqueueRun func(ctx context.Context, simulation string) error
}

// The traceset of a simple submission.
const (
	simpleFormat  = "simple_v1"
	simpleTTLDays = 7
)

// React reacts to simulations that a simple submission requested.
func (s *Simple) React(ctx context.Context, f events.Fact) error {
	requested, ok := f.Data.(events.SimulationRequested)
	if !ok || requested.Origin != commands.OriginSimple {
		return nil
	}
	if err := s.unfold(ctx, f.Stream, requested, because(&f, "unfold")); err != nil {
		return err
	}
	return s.EnqueueRun(ctx, f.Stream)
}

// Unfold does at once what React does later but for the run, so that the
// traceset and the configuration are there when a submission is answered.
// Whichever comes second changes nothing.
func (s *Simple) Unfold(ctx context.Context, simulation string, requested events.SimulationRequested) error {
	return s.unfold(ctx, simulation, requested, commands.Origin{
		Actor: systemActor, CommandID: derivedCommand(simulation, "unfold"),
	})
}

func (s *Simple) unfold(ctx context.Context, simulation string, requested events.SimulationRequested, from commands.Origin) error {
	submission, err := blueprint.ParseSimple(requested.Simple)
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

func (s *Simple) createTraceset(ctx context.Context, submission blueprint.Simple, requested events.SimulationRequested, from commands.Origin) error {
	w, err := newWorkload(submission)
	if err != nil {
		return err
	}
	if err := s.store(ctx, w); err != nil {
		return err
	}
	_, err = commands.Handle(ctx, s.Commands,
		commands.Target{Stream: w.tracesetID(requested.AccountID), PartitionKey: requested.WorkspaceID}, from,
		commands.CreateTraceset{Created: events.TracesetCreated{
			AccountID: requested.AccountID, WorkspaceID: requested.WorkspaceID,
			Name: w.name, Format: simpleFormat, Files: []events.TracesetFile{w.file},
			LibraryHash: w.libraryHash, TotalSize: w.file.Size, TTLDays: simpleTTLDays,
			RankCount: int64(collective.Ranks(submission.Groups)), Status: "ready",
		}})
	return err
}

// store keeps the file once, whoever submits it.
func (s *Simple) store(ctx context.Context, w workload) error {
	_, err := s.Objects.Head(ctx, w.file.ObjectKey)
	if !fault.Is(err, fault.NotFound) {
		return err
	}
	_, err = s.Objects.Put(ctx, w.file.ObjectKey, w.file.ContentType, strings.NewReader(w.content))
	return err
}

func (s *Simple) createConfiguration(ctx context.Context, submission blueprint.Simple, requested events.SimulationRequested, from commands.Origin) error {
	document, err := submission.Document()
	if err != nil {
		return err
	}
	text, err := design.Canonical(document)
	if err != nil {
		return err
	}
	_, err = commands.Handle(ctx, s.Commands,
		commands.Target{Stream: requested.ConfigurationID, PartitionKey: requested.WorkspaceID}, from,
		commands.CreateConfiguration{Created: events.ConfigurationCreated{
			AccountID: requested.AccountID, WorkspaceID: requested.WorkspaceID, Name: requested.Name,
			Document: text, ComponentCount: int64(document.ComponentCount()),
			Status: commands.Validated, TracesetID: requested.TracesetID, RankCount: int64(collective.Ranks(submission.Groups)),
		}})
	return err
}

// SimpleTracesetID returns the id of the account's traceset for the workload.
func SimpleTracesetID(account string, submission blueprint.Simple) (string, error) {
	w, err := newWorkload(submission)
	if err != nil {
		return "", err
	}
	return w.tracesetID(account), nil
}

// workload is the one file of a simple submission's traceset.
type workload struct {
	name        string // of the traceset
	content     string
	file        events.TracesetFile
	libraryHash string
}

func newWorkload(submission blueprint.Simple) (workload, error) {
	content, err := submission.Workload()
	if err != nil {
		return workload{}, err
	}
	sum := sha256.Sum256([]byte(content))
	hash := hex.EncodeToString(sum[:])
	w := workload{content: content, file: events.TracesetFile{
		Name: blueprint.WorkloadFile, ContentType: "application/json",
		Hash: "sha256:" + hash, Size: int64(len(content)), Role: "primary",
	}}
	// The hash of a library is that of its list of files (completions 2.7).
	list := blake3.Sum256(fmt.Appendf(nil, "%s %d %s\n", w.file.Hash, w.file.Size, w.file.Name))
	w.libraryHash = hex.EncodeToString(list[:])
	library := events.DerivedID(events.LibraryPrefix, w.libraryHash)
	w.file.ObjectKey = "libraries/" + library + "/" + hash[:2] + "/" + hash[2:]
	w.name = fmt.Sprintf("simple-%s-%d-%s", strings.ToLower(submission.Groups[0].Phases[0].OperationType),
		collective.Ranks(submission.Groups), w.libraryHash[:12])
	return w, nil
}

func (w workload) tracesetID(account string) string {
	return events.DerivedID(events.TracesetPrefix, account, w.libraryHash)
}
