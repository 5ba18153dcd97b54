package billing

import (
	"context"
	"fmt"
	"time"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/infra/gather"
	"netsim/projections"
)

// Metering turns facts into billing events: it opens, changes and closes the
// items that an account pays for (completions 7.2). When an item closes, or a
// fact arrives after its day, Books books the resulting costs. When a simulation
// ends, Holds releases its credit.
//
// Reactions to facts of different streams run at the same time, and share the
// queries and the appends of their billing events.
type Metering struct {
	Config
	simulations *projections.Lookups
	lookups     *projections.BillingLookups
	usages      gather.Gather[*usage, error]
}

// Config is what Metering works with.
type Config struct {
	Commands *handle.Handler
	DB       projections.Reader
	Books    *Books
	Holds    *Holds
}

// New returns a metering.
func New(c Config) *Metering {
	m := &Metering{Config: c, simulations: projections.NewLookups(c.DB), lookups: projections.NewBillingLookups(c.DB)}
	m.usages = gather.Gather[*usage, error]{Query: m.recordAll, MaxKeys: maxRecorded, Linger: recordDelay}
	return m
}

// The types of resources that items are opened for (completions 7.6).
const (
	resourceSimulation = "simulation"
	resourceTraceset   = "traceset"
	resourceMapping    = "mapping_file"
	resourceResults    = "results"
	resourceWorkspace  = "workspace"
)

// React records the usage that a fact begins, changes or ends. Repeating it
// records nothing more.
func (m *Metering) React(ctx context.Context, f events.Fact) error {
	err := m.react(ctx, f)
	if err == nil {
		err = m.Books.bookLate(ctx, f)
	}
	if err != nil {
		return fmt.Errorf("bill %s of %s: %w", f.Type, f.Stream, err)
	}
	return nil
}

func (m *Metering) react(ctx context.Context, f events.Fact) error {
	switch d := f.Data.(type) {
	case events.SimulationStarted:
		return m.runStarted(ctx, f, d)
	case events.SimulationYielded:
		return m.pause(ctx, f, func(int64) int64 { return 0 })
	case events.SimulationResumed:
		return m.pause(ctx, f, clusterUnits)
	case events.SimulationCompleted, events.SimulationFailed, events.SimulationTerminated:
		if err := m.close(ctx, f, resourceSimulation); err != nil {
			return err
		}
		return m.release(ctx, f, releasedAtEnd)
	case events.SimulationInvalidated:
		return m.release(ctx, f, releasedAtEnd)
	case events.SimulationResultsPublished:
		return m.resultsPublished(ctx, f, d)
	case events.SimulationDeleted:
		if err := m.close(ctx, f, resourceResults); err != nil {
			return err
		}
		return m.release(ctx, f, releasedCancelled) // if it never started
	case events.TracesetCreated:
		return m.settleLibrary(ctx, f, d.AccountID, d.LibraryHash)
	case events.TracesetDeleted:
		t, err := projections.FindTraceset(ctx, m.DB, f.Stream)
		if err != nil {
			return err
		}
		return m.settleLibrary(ctx, f, t.AccountID, t.LibraryHash)
	case events.MappingFileCreated:
		return m.open(ctx, f, d.AccountID, events.UsageRecorded{
			Meter: events.MeterStorage, ItemName: d.Name, CurrentCount: 1, WorkspaceID: d.WorkspaceID,
			UserID: personOf(f), ResourceType: resourceMapping, ResourceID: f.Stream, SizeBytes: d.SizeBytes,
		})
	case events.MappingFileDeleted:
		return m.close(ctx, f, resourceMapping)
	case events.WorkspaceCreated:
		return m.workspaceCreated(ctx, f, d)
	case events.WorkspaceDeleted:
		return m.close(ctx, f, resourceWorkspace)
	}
	return nil
}

func (m *Metering) runStarted(ctx context.Context, f events.Fact, d events.SimulationStarted) error {
	s, _, err := m.simulations.Simulation(ctx, f.Stream)
	if err != nil {
		return err
	}
	return m.open(ctx, f, s.AccountID, events.UsageRecorded{
		Meter: events.MeterCluster, ItemName: s.Name, CurrentCount: clusterUnits(d.Ranks),
		WorkspaceID: s.WorkspaceID, SandboxID: s.SandboxID, UserID: s.CreatedBy,
		ResourceType: resourceSimulation, ResourceID: f.Stream, Ranks: d.Ranks, Engine: d.Engine,
	})
}

// pause changes the units of a run that yields or resumes, which follow from its ranks. The
// two facts may come from processes whose clocks differ, so the change is at the earliest
// when the item last changed.
func (m *Metering) pause(ctx context.Context, f events.Fact, units func(ranks int64) int64) error {
	item, err := m.lookups.LatestItem(ctx, resourceSimulation, f.Stream)
	if err != nil || item == nil {
		return err
	}
	if f.Time.Before(item.ChangedAt) {
		f.Time = item.ChangedAt
	}
	return m.update(ctx, f, item, units(item.Ranks), 0)
}

func (m *Metering) resultsPublished(ctx context.Context, f events.Fact, d events.SimulationResultsPublished) error {
	item, err := m.lookups.LatestItem(ctx, resourceResults, f.Stream)
	if err != nil {
		return err
	}
	if item != nil {
		return m.update(ctx, f, item, storageUnits(d.Bytes), d.Bytes)
	}
	s, _, err := m.simulations.Simulation(ctx, f.Stream)
	if err != nil {
		return err
	}
	return m.open(ctx, f, s.AccountID, events.UsageRecorded{
		Meter: events.MeterStorage, ItemName: s.Name, CurrentCount: storageUnits(d.Bytes),
		WorkspaceID: s.WorkspaceID, SandboxID: s.SandboxID, UserID: s.CreatedBy,
		ResourceType: resourceResults, ResourceID: f.Stream, SizeBytes: d.Bytes,
	})
}

func (m *Metering) workspaceCreated(ctx context.Context, f events.Fact, d events.WorkspaceCreated) error {
	return m.open(ctx, f, d.AccountID, events.UsageRecorded{
		Meter: events.MeterWorkspace, ItemName: d.Name, CurrentCount: 1, WorkspaceID: f.Stream,
		UserID: personOf(f), ResourceType: resourceWorkspace, ResourceID: f.Stream,
	})
}

// clusterUnits is ceil(ranks / 1024).
func clusterUnits(ranks int64) int64 { return (ranks + 1023) / 1024 }

// storageUnits is ceil(bytes / 10^9).
func storageUnits(bytes int64) int64 { return (bytes + 999_999_999) / 1_000_000_000 }

// personOf returns the person whose request caused a fact, "" for the service
// itself.
func personOf(f events.Fact) string {
	if f.Actor == events.System {
		return ""
	}
	return f.Actor
}

// dayOf returns the UTC midnight at which the day of an instant begins.
func dayOf(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

// onAccount runs a command on an account.
func onAccount(ctx context.Context, h *handle.Handler, account string, from handle.Origin, c commands.Command[commands.Account]) (handle.Result, error) {
	return handle.Command(ctx, h, handle.Target{Stream: account, PartitionKey: account}, from, c)
}
