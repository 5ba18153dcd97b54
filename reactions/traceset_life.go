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

// TracesetLife extends the time to live of tracesets that are used, and deletes
// expired tracesets and their objects (completions 6.4).
type TracesetLife struct {
	Commands *handle.Handler
	DB       projections.Reader
	Objects  *objects.Store
	Locks    postgres.Locks
	Now      func() time.Time
	// CatchUp waits until the read model has caught up with the log. A library can
	// be needed by a fact that is not projected yet.
	CatchUp func(ctx context.Context) error
}

// SweepTracesets is the job that deletes expired tracesets and the objects of
// deleted ones.
type SweepTracesets struct{}

// Kind returns the name under which the job is stored.
func (SweepTracesets) Kind() string { return "sweep_tracesets" }

// React records a use of a traceset for each fact that uses one.
func (l *TracesetLife) React(ctx context.Context, f events.Fact) error {
	switch d := f.Data.(type) {
	case events.SimulationRequested:
		if d.Origin == commands.OriginSimple {
			return nil // the configuration that follows uses it
		}
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
		return nil // a simple submission creates its traceset meanwhile
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

// sweepPage is how many tracesets or libraries a query returns.
const sweepPage = 500

// Sweep deletes the tracesets whose time to live is over, and then the objects of
// unneeded libraries. It can be interrupted and repeated.
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

// purge removes the objects of unneeded libraries. It lists the libraries in the
// object store. One that no traceset has ever referred to stays, because its
// traceset may be about to be created.
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

// purgeOne removes the objects of a library unless it is needed again. It holds the
// library's lock, so that a writer of the same content waits and then stores it
// again. The next sweep handles a library that is locked now.
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
