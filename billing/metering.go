package billing

import (
	"context"
	"fmt"
	"time"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/projections"
)

// Books keeps the books: it meters what facts tell as billing events, rates
// days, and holds and releases credit (completions 7).
//
// Everything is written to the account's stream, whose commands one lane of
// this process, or the log between processes, puts in order.
type Books struct {
	Commands *handle.Handler
	DB       projections.Reader
	Now      func() time.Time
	Postpaid []string // accounts that the gate lets through; all others are prepaid
}

// The kinds of metered use; each is an eventType and, by default, a rateName.
const (
	meterCluster   = "cluster"
	meterStorage   = "storage"
	meterWorkspace = "workspace"
)

// The kinds of resources that items are about (completions 7.6).
const (
	resourceSimulation = "simulation"
	resourceTraceset   = "traceset"
	resourceMapping    = "mapping_file"
	resourceResults    = "results"
	resourceWorkspace  = "workspace"
)

// React does what the table of completions 7.2 says.
func (b *Books) React(ctx context.Context, f events.Fact) error {
	err := b.react(ctx, f)
	if err == nil {
		err = b.bookLate(ctx, f)
	}
	if err != nil {
		return fmt.Errorf("bill %s of %s: %w", f.Type, f.Stream, err)
	}
	return nil
}

func (b *Books) react(ctx context.Context, f events.Fact) error {
	switch d := f.Data.(type) {
	case events.SimulationStarted:
		return b.runStarted(ctx, f, d)
	case events.SimulationCompleted, events.SimulationFailed, events.SimulationTerminated:
		if err := b.close(ctx, f, resourceSimulation); err != nil {
			return err
		}
		return b.release(ctx, f.Stream, releasedAtEnd, causedBy(f))
	case events.SimulationInvalidated:
		return b.release(ctx, f.Stream, releasedAtEnd, causedBy(f))
	case events.SimulationResultsPublished:
		return b.resultsPublished(ctx, f, d)
	case events.SimulationDeleted:
		if err := b.close(ctx, f, resourceResults); err != nil {
			return err
		}
		return b.release(ctx, f.Stream, releasedCancelled, causedBy(f)) // of one that had not started
	case events.TracesetCreated:
		return b.settleLibrary(ctx, f, d.AccountID, d.LibraryHash)
	case events.TracesetDeleted:
		t, err := projections.FindTraceset(ctx, b.DB, f.Stream)
		if err != nil {
			return err
		}
		return b.settleLibrary(ctx, f, t.AccountID, t.LibraryHash)
	case events.MappingFileCreated:
		return b.open(ctx, f, d.AccountID, events.UsageRecorded{
			Meter: meterStorage, ItemName: d.Name, CurrentCount: 1, WorkspaceID: d.WorkspaceID,
			UserID: personOf(f), ResourceType: resourceMapping, ResourceID: f.Stream, SizeBytes: d.SizeBytes,
		})
	case events.MappingFileDeleted:
		return b.close(ctx, f, resourceMapping)
	case events.WorkspaceCreated:
		return b.workspaceCreated(ctx, f, d)
	case events.WorkspaceDeleted:
		return b.close(ctx, f, resourceWorkspace)
	}
	return nil
}

func (b *Books) runStarted(ctx context.Context, f events.Fact, d events.SimulationStarted) error {
	s, err := projections.FindSimulation(ctx, b.DB, f.Stream)
	if err != nil {
		return err
	}
	return b.open(ctx, f, s.AccountID, events.UsageRecorded{
		Meter: meterCluster, ItemName: s.Name, CurrentCount: clusterUnits(d.Ranks),
		WorkspaceID: s.WorkspaceID, SandboxID: s.SandboxID, UserID: s.CreatedBy,
		ResourceType: resourceSimulation, ResourceID: f.Stream, Ranks: d.Ranks, Engine: d.Engine,
	})
}

func (b *Books) resultsPublished(ctx context.Context, f events.Fact, d events.SimulationResultsPublished) error {
	item, err := projections.LatestBillingItem(ctx, b.DB, resourceResults, f.Stream)
	if err != nil {
		return err
	}
	if item != nil {
		return b.update(ctx, f, item, storageUnits(d.Bytes), d.Bytes)
	}
	s, err := projections.FindSimulation(ctx, b.DB, f.Stream)
	if err != nil {
		return err
	}
	return b.open(ctx, f, s.AccountID, events.UsageRecorded{
		Meter: meterStorage, ItemName: s.Name, CurrentCount: storageUnits(d.Bytes),
		WorkspaceID: s.WorkspaceID, SandboxID: s.SandboxID, UserID: s.CreatedBy,
		ResourceType: resourceResults, ResourceID: f.Stream, SizeBytes: d.Bytes,
	})
}

func (b *Books) workspaceCreated(ctx context.Context, f events.Fact, d events.WorkspaceCreated) error {
	return b.open(ctx, f, d.AccountID, events.UsageRecorded{
		Meter: meterWorkspace, ItemName: d.Name, CurrentCount: 1, WorkspaceID: f.Stream,
		UserID: personOf(f), ResourceType: resourceWorkspace, ResourceID: f.Stream,
	})
}

// settleLibrary opens or closes the item of a library of traceset files, of
// which an account pays one copy: it is open while any traceset refers to it.
//
// Tracesets of several workspaces, whose facts come in no order, share a
// library. So what is wanted is read anew after each step, and the id of a step
// derives from the item before it: whoever else takes the same step takes it
// once.
func (b *Books) settleLibrary(ctx context.Context, f events.Fact, account, hash string) error {
	if account == "" {
		return nil // a curated traceset: what belongs to no account is not billed
	}
	for {
		item, err := projections.LatestLibraryItem(ctx, b.DB, account, hash)
		if err != nil {
			return err
		}
		first, err := projections.FirstTraceset(ctx, b.DB, account, hash)
		if err != nil {
			return err
		}
		from := causedBy(f)
		switch active := item != nil && item.EndedAt == nil; {
		case active == (first != nil):
			return nil
		case active:
			from.CommandID = derivedCommand("usage", account, hash, fmt.Sprint(item.ID), commands.UsageStop)
			if err := b.stop(ctx, f, item, from); err != nil {
				return err
			}
		default:
			previous := "none"
			if item != nil {
				previous = fmt.Sprint(item.ID)
			}
			from.CommandID = derivedCommand("usage", account, hash, previous, commands.UsageStart)
			if err := b.start(ctx, f, account, from, events.UsageRecorded{
				Meter: meterStorage, ItemName: first.Name, CurrentCount: storageUnits(first.TotalSize),
				WorkspaceID: first.WorkspaceID, UserID: personOf(f),
				ResourceType: resourceTraceset, ResourceID: first.ID, SizeBytes: first.TotalSize,
			}); err != nil {
				return err
			}
		}
	}
}

// clusterUnits is ceil(ranks / 1024).
func clusterUnits(ranks int64) int64 { return (ranks + 1023) / 1024 }

// storageUnits is ceil(bytes / 10^9).
func storageUnits(bytes int64) int64 { return (bytes + 999_999_999) / 1_000_000_000 }

// causedBy is the origin of what the service does about a fact; the id of the
// command is still to be set.
func causedBy(f events.Fact) handle.Origin {
	return handle.Origin{Actor: events.System, CorrelationID: f.CorrelationID, CauseID: f.ID}
}

// personOf is who caused a fact, "" for the service itself.
func personOf(f events.Fact) string {
	if f.Actor == events.System {
		return ""
	}
	return f.Actor
}
