package reactions

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/singleflight"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/content/library"
	"netsim/events"
	"netsim/fault"
	"netsim/infra/objects"
	"netsim/infra/postgres"
	"netsim/projections"
	"netsim/simulator/collective"
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
func (s *Workloads) Keep(ctx context.Context, groups []collective.GroupSpec, t events.TracesetCreated, from handle.Origin) (string, error) {
	w, err := newWorkload(groups)
	if err != nil {
		return "", err
	}
	id := w.tracesetID(t.AccountID)
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
func (s *Workloads) make(ctx context.Context, id string, w workload, t events.TracesetCreated, from handle.Origin) error {
	release, err := s.Locks.Wait(ctx, library.Lock(w.libraryHash), lockTimeout)
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
	t.Name, t.Format, t.Status = cmp.Or(t.Name, w.name), "simple_v1", "ready"
	t.Files, t.LibraryHash, t.TotalSize = []events.TracesetFile{w.file}, w.libraryHash, w.file.Size
	t.RankCount = w.ranks
	_, err = handle.Command(ctx, s.Commands, to, from, commands.CreateTraceset{Created: t})
	return err
}

// store stores the file unless it exists.
func (s *Workloads) store(ctx context.Context, w workload) error {
	_, err := s.Objects.Head(ctx, w.file.ObjectKey)
	if !fault.Is(err, fault.NotFound) {
		return err
	}
	_, err = s.Objects.Put(ctx, w.file.ObjectKey, w.file.ContentType, strings.NewReader(w.content))
	return err
}

// SimpleTracesetID returns the id of the account's traceset for the workload.
func SimpleTracesetID(account string, submission presets.Simple) (string, error) {
	w, err := newWorkload(submission.Groups)
	if err != nil {
		return "", err
	}
	return w.tracesetID(account), nil
}

// SimpleLibrary returns the hash of the library of a simple submission's workload, and
// the id of the account's traceset of it.
func SimpleLibrary(account string, submission presets.Simple) (hash, traceset string, err error) {
	w, err := newWorkload(submission.Groups)
	if err != nil {
		return "", "", err
	}
	return w.libraryHash, w.tracesetID(account), nil
}

// workload is the one file of a synthesized traceset.
type workload struct {
	name        string // of the traceset
	content     string
	file        events.TracesetFile
	libraryHash string
	ranks       int64
}

func newWorkload(groups []collective.GroupSpec) (workload, error) {
	content, err := presets.WorkloadContent(groups)
	if err != nil {
		return workload{}, err
	}
	sum := sha256.Sum256([]byte(content))
	w := workload{content: content, ranks: int64(collective.Ranks(groups)), file: events.TracesetFile{
		Name: presets.WorkloadFile, ContentType: "application/json",
		Hash: "sha256:" + hex.EncodeToString(sum[:]), Size: int64(len(content)), Role: "primary",
	}}
	w.libraryHash = library.Hash([]events.TracesetFile{w.file})
	w.file.ObjectKey = library.Key(w.libraryHash, w.file.Hash)
	w.name = fmt.Sprintf("simple-%s-%d-%s", strings.ToLower(groups[0].Phases[0].OperationType),
		collective.Ranks(groups), w.libraryHash[:12])
	return w, nil
}

func (w workload) tracesetID(account string) string {
	return events.DerivedID(events.TracesetPrefix, account, w.libraryHash)
}
