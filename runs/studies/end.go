package studies

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/fault"
	"netsim/projections"
)

// stopPage is how many runs one look at a study stops or deletes.
const stopPage = 500

// stop cancels and terminates the unfinished runs of a study, and returns when all have
// ended. A run of an engine that cannot stop it goes on to its end.
func (w *Worker) stop(ctx context.Context, s *projections.Study) error {
	changed, end := w.Changes()
	defer end()
	for {
		now, err := projections.FindStudy(ctx, w.DB, s.ID)
		if err != nil || now.Status == commands.Running && now.Deleted == "" {
			return err
		}
		open, err := projections.OpenStudyRuns(ctx, w.DB, s.ID, stopPage)
		if err != nil || len(open) == 0 {
			return err
		}
		if err := each(ctx, open, w.stopOne); err != nil {
			return fmt.Errorf("stop the runs of study %s: %w", s.ID, err)
		}
		if err := pause(ctx, changed); err != nil {
			return err
		}
	}
}

// stopOne ends a run that had not ended when the read model was asked. One that has ended
// since keeps its results.
func (w *Worker) stopOne(ctx context.Context, r projections.StudyRun) error {
	err := w.delete(ctx, r, commands.DeleteSimulation{ID: r.ID, Reason: reasonStudy, Waiting: true})
	if !fault.Is(err, fault.Conflict) {
		return err
	}
	_, err = handle.Command(ctx, w.Commands, handle.Target{Stream: r.ID, PartitionKey: r.WorkspaceID},
		handle.System(r.ID, "stop"), commands.TerminateSimulation{ID: r.ID, By: events.System})
	switch fault.CodeOf(err) {
	case fault.Conflict, fault.NotFound, fault.NotImplemented: // it has ended, or goes on
		return nil
	}
	return err
}

func (w *Worker) delete(ctx context.Context, r projections.StudyRun, command commands.DeleteSimulation) error {
	_, err := handle.Command(ctx, w.Commands, handle.Target{Stream: r.ID, PartitionKey: r.WorkspaceID},
		handle.System(r.ID, "delete"), command)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

// reasonStudy is the reason in the deletions of a study's runs.
const reasonStudy = "study"

// Remove stops and deletes the runs of a deleted study.
func (w *Worker) Remove(ctx context.Context, id string) error {
	s, err := projections.FindStudy(ctx, w.DB, id)
	if err != nil || s.Deleted == "" {
		return err
	}
	return w.remove(ctx, &s)
}

// remove stops and deletes the runs of a deleted study, with their configurations.
func (w *Worker) remove(ctx context.Context, s *projections.Study) error {
	if err := w.stop(ctx, s); err != nil {
		return err
	}
	for {
		ended, err := projections.EndedStudyRuns(ctx, w.DB, s.ID, stopPage)
		if err != nil {
			return err
		}
		if len(ended) == 0 {
			return w.removeConfigurations(ctx, s)
		}
		err = each(ctx, ended, func(ctx context.Context, r projections.StudyRun) error {
			return w.delete(ctx, r, commands.DeleteSimulation{ID: r.ID, Reason: reasonStudy})
		})
		if err != nil {
			return fmt.Errorf("delete the runs of study %s: %w", s.ID, err)
		}
	}
}

// removeConfigurations deletes the configurations that were made for the runs of a
// study. Some were made for runs that were never requested.
func (w *Worker) removeConfigurations(ctx context.Context, s *projections.Study) error {
	ids, err := w.configurationsOf(ctx, s)
	if err != nil {
		return err
	}
	return each(ctx, ids, func(ctx context.Context, id string) error {
		_, err := handle.Command(ctx, w.Commands, handle.Target{Stream: id, PartitionKey: s.WorkspaceID},
			handle.System(id, "delete"), commands.DeleteConfiguration{ID: id, Reason: reasonStudy})
		if fault.Is(err, fault.NotFound) {
			return nil
		}
		return err
	})
}

func (w *Worker) configurationsOf(ctx context.Context, s *projections.Study) (ids []string, err error) {
	if s.Kind == commands.StudyOfSimple {
		runs, err := projections.StudyRuns(ctx, w.DB, s.ID)
		for _, r := range runs {
			ids = append(ids, events.DerivedID(events.ConfigurationPrefix, r.ID))
		}
		return ids, err
	}
	shared, err := projections.SharedInStudy(ctx, w.DB, s.ID)
	slices.Sort(shared)
	for point := range s.Next {
		if _, without := slices.BinarySearch(shared, point); !without {
			ids = append(ids, ConfigurationID(s.ID, point))
		}
	}
	return ids, err
}

func each[T any](ctx context.Context, list []T, do func(context.Context, T) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(inFlight)
	for _, item := range list {
		group.Go(func() error { return do(ctx, item) })
	}
	return group.Wait()
}
