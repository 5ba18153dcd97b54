package reactions

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/fault"
	"netsim/projections"
)

// Workspace deletes the resources of a deleted workspace (completions 2.8).
// Running simulations go on, and are deleted when they have ended.
type Workspace struct {
	Commands *handle.Handler
	DB       projections.Reader
}

// React reacts to workspaces and simulations.
func (w *Workspace) React(ctx context.Context, f events.Fact) error {
	switch f.Data.(type) {
	case events.WorkspaceDeletionRequested:
		return w.cascade(ctx, &f)
	case events.SimulationInvalidated, events.SimulationCompleted, events.SimulationFailed, events.SimulationTerminated:
		return w.follow(ctx, &f)
	}
	return nil
}

// cascade deletes all resources of the workspace, and then records that none is
// left. After an interruption it continues with the rest.
func (w *Workspace) cascade(ctx context.Context, f *events.Fact) error {
	from := handle.Because(f, "cascade") // of every deletion, each on its own stream
	var removed events.WorkspaceDeleted
	for _, kind := range []struct {
		what  projections.Owned
		count *int64
	}{
		{projections.OwnedConfigurations, &removed.Configurations},
		{projections.OwnedUploads, new(int64)}, // before tracesets and mapping files, because an upload can still become one
		{projections.OwnedTracesets, &removed.Tracesets},
		{projections.OwnedMappingFiles, &removed.MappingFiles},
		{projections.OwnedStudies, &removed.Studies}, // before simulations, because a study can still start some
		{projections.OwnedSimulations, &removed.Simulations},
	} {
		if err := w.deleteAll(ctx, f, kind.what, from); err != nil {
			return err
		}
		var err error
		if *kind.count, err = projections.CountCommanded(ctx, w.DB, kind.what, f.Stream, from.CommandID); err != nil {
			return err
		}
	}
	_, err := handle.Command(ctx, w.Commands, handle.Target{Stream: f.Stream, PartitionKey: f.PartitionKey},
		handle.Because(f, "finish"), commands.FinishWorkspaceDeletion{ID: f.Stream, Removed: removed})
	return err
}

const (
	cascadePage     = 500
	cascadeInFlight = 16
)

// deleteAll deletes page by page. A deletion is visible when its command returns,
// so every page lists the remaining resources.
func (w *Workspace) deleteAll(ctx context.Context, f *events.Fact, what projections.Owned, from handle.Origin) error {
	for last := ""; ; {
		page, err := projections.ListDeletable(ctx, w.DB, what, f.Stream, cascadePage)
		if err != nil || len(page) == 0 {
			return err
		}
		if page[0] == last {
			return fmt.Errorf("workspace %s: %s is deleted and still listed", f.Stream, last)
		}
		last = page[0]
		var group errgroup.Group
		group.SetLimit(cascadeInFlight)
		for _, id := range page {
			group.Go(func() error {
				return w.remove(ctx, what, handle.Target{Stream: id, PartitionKey: f.PartitionKey}, from)
			})
		}
		if err := group.Wait(); err != nil {
			return fmt.Errorf("workspace %s: delete its %s: %w", f.Stream, what, err)
		}
	}
}

// remove deletes one resource, unless it is deleted already.
func (w *Workspace) remove(ctx context.Context, what projections.Owned, to handle.Target, from handle.Origin) error {
	var err error
	switch what {
	case projections.OwnedConfigurations:
		_, err = handle.Command(ctx, w.Commands, to, from, commands.DeleteConfiguration{ID: to.Stream, Reason: commands.ReasonWorkspace})
	case projections.OwnedUploads:
		_, err = handle.Command(ctx, w.Commands, to, from, commands.AbortUpload{ID: to.Stream, Reason: commands.ReasonWorkspace})
		if fault.Is(err, fault.Conflict) { // completed meanwhile
			return nil
		}
	case projections.OwnedMappingFiles:
		_, err = handle.Command(ctx, w.Commands, to, from, commands.DeleteMappingFile{ID: to.Stream, Reason: commands.ReasonWorkspace})
	case projections.OwnedTracesets:
		t, e := projections.FindTraceset(ctx, w.DB, to.Stream)
		if e != nil {
			return e
		}
		to.PartitionKey = t.Partition
		_, err = handle.Command(ctx, w.Commands, to, from, commands.DeleteTraceset{ID: to.Stream, Reason: commands.ReasonWorkspace})
	case projections.OwnedStudies:
		_, err = handle.Command(ctx, w.Commands, to, from, commands.DeleteStudy{ID: to.Stream, Reason: commands.ReasonWorkspace})
	case projections.OwnedSimulations:
		_, err = handle.Command(ctx, w.Commands, to, from, commands.DeleteSimulation{ID: to.Stream, Reason: commands.ReasonWorkspace})
	}
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

// follow deletes a simulation that has ended in a deleted workspace. The cascade
// and this reaction both see all facts before theirs, so one of them sees both the
// end and the deletion.
func (w *Workspace) follow(ctx context.Context, f *events.Fact) error {
	sim, err := projections.FindSimulation(ctx, w.DB, f.Stream)
	if err != nil || sim.Deleted != "" {
		return err
	}
	workspace, err := projections.FindWorkspace(ctx, w.DB, sim.WorkspaceID)
	if fault.Is(err, fault.NotFound) || err == nil && workspace.State == projections.Live {
		return nil
	}
	if err != nil {
		return err
	}
	return w.remove(ctx, projections.OwnedSimulations,
		handle.Target{Stream: f.Stream, PartitionKey: f.PartitionKey}, handle.Because(f, "follow"))
}
