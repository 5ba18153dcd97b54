package unfold

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"golang.org/x/sync/singleflight"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/content/library"
	"netsim/content/simple"
	"netsim/events"
	"netsim/fault"
	"netsim/infra/objects"
	"netsim/infra/postgres"
	"netsim/projections"
	"netsim/simulator/presets"
)

// Workloads stores synthesized workloads as tracesets of one file. Identical
// workloads share one traceset in an account, and one file in all accounts
// (completions 2.7, 4.3).
type Workloads struct {
	Commands *handle.Handler
	DB       projections.Reader
	Objects  *objects.Store
	Locks    postgres.Locks

	making singleflight.Group // tracesets, by id
}

// lockTimeout bounds the wait for another writer of the same library.
const lockTimeout = 10 * time.Second

// Keep stores a workload and records its traceset, unless the traceset exists. It
// fills in the fields that follow from the workload, and the name if it is empty. It
// returns the traceset's id.
//
// The file stays while a traceset refers to it, and an expired traceset stays
// while a simulation uses it. So a caller that needs the traceset for a simulation
// requests the simulation first.
func (s *Workloads) Keep(ctx context.Context, w *simple.Workload, t events.TracesetCreated, from handle.Origin) (string, error) {
	id := w.TracesetID(t.AccountID)
	there, err := projections.FindTraceset(ctx, s.DB, id)
	if err == nil && there.Status != projections.Deleted {
		return id, nil
	}
	if err != nil && !fault.Is(err, fault.NotFound) {
		return "", err
	}
	_, err, _ = s.making.Do(id, func() (any, error) {
		return nil, s.make(context.WithoutCancel(ctx), id, w, t, from)
	})
	return id, err
}

// make stores a workload whose traceset does not exist or is deleted. It holds the
// library's lock, so that no other process stores or removes the same content.
func (s *Workloads) make(ctx context.Context, id string, w *simple.Workload, t events.TracesetCreated, from handle.Origin) error {
	release, err := s.Locks.Wait(ctx, library.Lock(w.LibraryHash), lockTimeout)
	if errors.Is(err, postgres.ErrHeld) {
		return fault.Unknown(err)
	}
	if err != nil {
		return err
	}
	defer release()
	to := handle.Target{Stream: id, PartitionKey: t.WorkspaceID}
	switch before, err := projections.FindTraceset(ctx, s.DB, id); {
	case err == nil: // a stream keeps its partition key
		to.PartitionKey = before.Partition
	case !fault.Is(err, fault.NotFound):
		return err
	}
	if err := s.store(ctx, w); err != nil {
		return err
	}
	t.Name, t.Format, t.Status = cmp.Or(t.Name, w.Name), presets.Format, "ready"
	t.Files, t.LibraryHash, t.TotalSize = []events.TracesetFile{w.File}, w.LibraryHash, w.File.Size
	t.RankCount = w.Ranks
	_, err = handle.Command(ctx, s.Commands, to, from, commands.CreateTraceset{Created: t})
	return err
}

// store stores the file unless it exists.
func (s *Workloads) store(ctx context.Context, w *simple.Workload) error {
	_, err := s.Objects.Head(ctx, w.File.ObjectKey)
	if !fault.Is(err, fault.NotFound) {
		return err
	}
	_, err = s.Objects.Put(ctx, w.File.ObjectKey, w.File.ContentType, strings.NewReader(w.Content))
	return err
}
