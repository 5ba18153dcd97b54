package reactions

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"netsim/commands"
	"netsim/events"
	"netsim/fault"
	"netsim/infra/objects"
	"netsim/library"
	"netsim/simulator/blueprint"
	"netsim/simulator/collective"
)

// Workloads keeps synthesized workloads as tracesets of one file. Identical
// workloads of an account share one traceset, and of all accounts one file
// (completions 2.7, 4.3).
type Workloads struct {
	Commands *commands.Handler
	Objects  *objects.Store
}

// Keep stores a workload and records its traceset, unless both are there. What
// the workload itself tells is filled in, the name when there is none. It
// returns the traceset's id.
func (s Workloads) Keep(ctx context.Context, groups []collective.GroupSpec, t events.TracesetCreated, from commands.Origin) (string, error) {
	w, err := newWorkload(groups)
	if err != nil {
		return "", err
	}
	if err := s.store(ctx, w); err != nil {
		return "", err
	}
	t.Name, t.Format, t.Status = cmp.Or(t.Name, w.name), "simple_v1", "ready"
	t.Files, t.LibraryHash, t.TotalSize = []events.TracesetFile{w.file}, w.libraryHash, w.file.Size
	t.RankCount = int64(collective.Ranks(groups))
	id := w.tracesetID(t.AccountID)
	_, err = commands.Handle(ctx, s.Commands, commands.Target{Stream: id, PartitionKey: t.WorkspaceID}, from,
		commands.CreateTraceset{Created: t})
	return id, err
}

// store keeps the file once, whoever needs it.
func (s Workloads) store(ctx context.Context, w workload) error {
	_, err := s.Objects.Head(ctx, w.file.ObjectKey)
	if !fault.Is(err, fault.NotFound) {
		return err
	}
	_, err = s.Objects.Put(ctx, w.file.ObjectKey, w.file.ContentType, strings.NewReader(w.content))
	return err
}

// SimpleTracesetID returns the id of the account's traceset for the workload.
func SimpleTracesetID(account string, submission blueprint.Simple) (string, error) {
	w, err := newWorkload(submission.Groups)
	if err != nil {
		return "", err
	}
	return w.tracesetID(account), nil
}

// workload is the one file of a synthesized traceset.
type workload struct {
	name        string // of the traceset
	content     string
	file        events.TracesetFile
	libraryHash string
}

func newWorkload(groups []collective.GroupSpec) (workload, error) {
	content, err := blueprint.WorkloadContent(groups)
	if err != nil {
		return workload{}, err
	}
	sum := sha256.Sum256([]byte(content))
	w := workload{content: content, file: events.TracesetFile{
		Name: blueprint.WorkloadFile, ContentType: "application/json",
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
