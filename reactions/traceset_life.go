package reactions

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/content/library"
	"netsim/events"
	"netsim/fault"
	"netsim/infra/objects"
	"netsim/infra/postgres"
	"netsim/projections"
)

// TracesetLife keeps tracesets while they are used, and deletes them and what
// is stored of them when they are no longer (completions 6.4).
type TracesetLife struct {
	Commands *handle.Handler
	DB       projections.Reader
	Objects  *objects.Store
	Locks    postgres.Locks
	Now      func() time.Time
	// CatchUp waits until the read model knows all of the log. What it does not
	// know yet could be needed.
	CatchUp func(ctx context.Context) error
}

// SweepTracesets is the job that deletes the tracesets that have expired, and
// what is stored of those that are deleted.
type SweepTracesets struct{}

// Kind is its stored name.
func (SweepTracesets) Kind() string { return "sweep_tracesets" }

// React records the uses that other facts are.
func (l *TracesetLife) React(ctx context.Context, f events.Fact) error {
	switch d := f.Data.(type) {
	case events.SimulationRequested:
		return l.use(ctx, &f, d.TracesetID, "simulation")
	case events.ConfigurationTracesetAttached:
		return l.use(ctx, &f, d.TracesetID, "attach")
	case events.ConfigurationCreated:
		return l.use(ctx, &f, d.TracesetID, "attach")
	}
	return nil
}

func (l *TracesetLife) use(ctx context.Context, f *events.Fact, id, what string) error {
	if id == "" {
		return nil
	}
	t, err := projections.FindTraceset(ctx, l.DB, id)
	if fault.Is(err, fault.NotFound) {
		return nil // of a simple submission, which makes it next
	}
	if err != nil || !t.UseIsDue(l.Now()) {
		return err
	}
	_, err = handle.Command(ctx, l.Commands, handle.Target{Stream: id, PartitionKey: t.Partition},
		handle.Because(f, "use"), commands.UseTraceset{ID: id, Use: what})
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

// sweepPage is how many tracesets or libraries are looked at together.
const sweepPage = 500

// Sweep deletes the tracesets whose time to live is over, and then the objects
// of libraries that nobody needs. It may be repeated and interrupted.
func (l *TracesetLife) Sweep(ctx context.Context) error {
	if err := l.CatchUp(ctx); err != nil {
		return err
	}
	for {
		expired, err := projections.ListExpiredTracesets(ctx, l.DB, l.Now(), sweepPage)
		if err != nil {
			return err
		}
		for _, t := range expired {
			_, err := handle.Command(ctx, l.Commands, handle.Target{Stream: t.ID, PartitionKey: t.Partition},
				handle.System(), commands.DeleteTraceset{ID: t.ID, Reason: "expired"})
			if err != nil && !fault.Is(err, fault.NotFound) {
				return fmt.Errorf("delete the expired traceset %s: %w", t.ID, err)
			}
		}
		if len(expired) < sweepPage {
			return l.purge(ctx)
		}
	}
}

// purge removes the objects of libraries that nobody needs any more. Which
// libraries have objects the store tells. One that no traceset ever referred to
// stays: it is no proof that nobody needs it that nothing is known of it.
func (l *TracesetLife) purge(ctx context.Context) error {
	var page []string
	for folder, err := range l.Objects.Folders(ctx, library.All) {
		if err != nil {
			return err
		}
		page = append(page, strings.TrimSuffix(strings.TrimPrefix(folder, library.All), "/"))
		if len(page) == sweepPage {
			if err := l.purgeAll(ctx, page); err != nil {
				return err
			}
			page = page[:0]
		}
	}
	return l.purgeAll(ctx, page)
}

func (l *TracesetLife) purgeAll(ctx context.Context, libraries []string) error {
	unneeded, err := projections.UnneededLibraries(ctx, l.DB, libraries, l.Now())
	if err != nil {
		return err
	}
	for _, id := range unneeded {
		if err := l.purgeOne(ctx, id); err != nil {
			return fmt.Errorf("remove library %s: %w", id, err)
		}
	}
	return nil
}

// purgeOne removes the objects of a library unless somebody needs it by now. It
// has its lock meanwhile: who stores the same content waits, and stores it
// again. A library that is locked is left for the next time.
func (l *TracesetLife) purgeOne(ctx context.Context, id string) error {
	release, err := l.Locks.Try(ctx, library.LockOf(id))
	if errors.Is(err, postgres.ErrHeld) {
		return nil
	}
	if err != nil {
		return err
	}
	defer release()
	still, err := projections.UnneededLibraries(ctx, l.DB, []string{id}, l.Now())
	if err != nil || len(still) == 0 {
		return err
	}
	return l.Objects.DeletePrefix(ctx, library.PrefixOf(id))
}
