package runs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"netsim/fault"
	"netsim/projections"
	"netsim/runs/execution"
	"netsim/simulator/snapshot"
	"netsim/simulator/units"
)

// maxSnapshot limits the size of a snapshot, compressed or not, in bytes.
const maxSnapshot = 4 << 30

// resume continues the run from the newest usable snapshot. It returns false if
// there is none. A run that was terminated has one if it had yielded.
func (a *attempt) resume(ctx context.Context) (bool, error) {
	for _, key := range []string{a.sim.CheckpointKey, a.sim.EarlierCheckpoint} {
		if key == "" {
			continue
		}
		err := a.files.calls.do(ctx, "the run's engine snapshot could not be read", func() error { return a.resumeFrom(ctx, key) })
		switch {
		case err == nil:
			return true, nil
		case !errors.Is(err, snapshot.ErrRefused) && !fault.Is(err, fault.NotFound):
			return false, fmt.Errorf("resume from %s: %w", key, err)
		}
		a.Log.WarnContext(ctx, "an engine snapshot is not used", "simulation", a.sim.ID, "snapshot", key, "error", err)
	}
	return false, nil
}

// resumeFrom continues the run from one snapshot.
func (a *attempt) resumeFrom(ctx context.Context, key string) error {
	content, err := a.fetch(ctx, key)
	if err != nil {
		return err
	}
	state, err := unpacked(content)
	if err != nil {
		return err
	}
	var at standing
	if err := snapshot.Read(state, sectionName, at.visit); err != nil {
		return err
	}
	if !strings.HasPrefix(at.prefix, Prefix(a.sim.ID)) {
		return fmt.Errorf("%w: it is of %s", snapshot.ErrRefused, at.prefix)
	}
	name := strings.TrimPrefix(key, at.prefix)
	sum := sha256.Sum256(content)
	contentType, kind := typesOf(name)
	resumed := &files{ctx: ctx, store: a.Objects, calls: a.files.calls, prefix: at.prefix, done: Manifest{Files: at.done}, kept: true}
	if resumed.snapshots, err = a.present(ctx, at.prefix, at.snapshots); err != nil {
		return err
	}
	resumed.snapshots = append(resumed.snapshots, File{name, int64(len(content)), hex.EncodeToString(sum[:]), contentType, kind})
	resumed.written.Store(resumed.size())
	for i := range at.open {
		if err := resumed.resume(at.open[i]); err != nil {
			return err
		}
	}
	c := a.config(ctx, resumed)
	c.UpTo = 0 // a terminated run ends at its snapshot
	run, err := execution.Resume(a.in, c, state)
	if err != nil {
		return err
	}
	if a.ended && run.Progress().Time/1000 < a.sim.SimulatedTimeNs {
		return fmt.Errorf("%w: more progress is recorded", snapshot.ErrRefused)
	}
	if err := a.log.resume(ctx, at.lines); err != nil {
		return err
	}
	a.files, a.run, a.from, a.ran = resumed, run, key, at.ran
	a.tidy(ctx)
	a.log.add(execution.Entry{
		At: run.Progress().Time, Level: execution.Info, Component: execution.Provisioner,
		Message: fmt.Sprintf("another worker resumes from engine snapshot %s at %s",
			strings.TrimSuffix(path.Base(key), ".state"), units.FormatDuration(run.Progress().Time)),
	})
	return nil
}

// fetch reads a whole snapshot, so that every error of the store occurs here.
func (a *attempt) fetch(ctx context.Context, key string) ([]byte, error) {
	body, info, err := a.Objects.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	defer body.Close() //nolint:errcheck // it was only read
	if info.Size > maxSnapshot {
		return nil, fmt.Errorf("%w: it has %d bytes", snapshot.ErrRefused, info.Size)
	}
	content, err := io.ReadAll(io.LimitReader(body, maxSnapshot))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", key, err)
	}
	return content, nil
}

// unpacked decompresses a whole snapshot, so that damage is found before the run
// resumes.
func unpacked(content []byte) (*bytes.Buffer, error) {
	z, err := zstd.NewReader(bytes.NewReader(content), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	state := new(bytes.Buffer)
	n, err := state.ReadFrom(io.LimitReader(z, maxSnapshot))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", snapshot.ErrRefused, err)
	case n == maxSnapshot:
		return nil, fmt.Errorf("%w: it is too large", snapshot.ErrRefused)
	}
	return state, nil
}

// present returns the files of the list that exist.
func (a *attempt) present(ctx context.Context, prefix string, list []File) ([]File, error) {
	var found []File
	for _, f := range list {
		_, err := a.Objects.Head(ctx, prefix+f.Name)
		switch {
		case err == nil:
			found = append(found, f)
		case !fault.Is(err, fault.NotFound):
			return nil, err
		}
	}
	return found, nil
}

// resume continues the upload of a file that was open at the snapshot.
func (f *files) resume(from openFile) error {
	if from.at.Key != f.prefix+from.name {
		return fmt.Errorf("%w: file %s has another key", snapshot.ErrRefused, from.name)
	}
	up, err := f.store.GoOn(f.ctx, from.at)
	if err != nil {
		return err
	}
	up.Call = f.callsFor(from.name)
	contentType, kind := typesOf(from.name)
	f.written.Add(up.Written())
	f.open = append(f.open, &file{Upload: up, files: f, File: File{Name: from.name, ContentType: contentType, Type: kind}})
	return nil
}

// reopen returns a file that was open at the snapshot.
func (f *files) reopen(name string) (io.WriteCloser, error) {
	for _, w := range f.open {
		if w.Name == name {
			return w, nil
		}
	}
	return nil, fmt.Errorf("%w: file %s was not open", snapshot.ErrRefused, name)
}

// forget removes the snapshot that the engine refused, so that another attempt
// starts from the one before it or from the beginning.
func (a *attempt) forget(ctx context.Context, reason error) error {
	if err := a.Objects.Delete(ctx, a.from); err != nil {
		return err
	}
	return fmt.Errorf("%s is tried again without %s: %w", a.sim.ID, a.from, reason)
}

// discard removes the files of an attempt whose simulation has ended or is deleted,
// unless another worker has published these same files.
func (a *attempt) discard(ctx context.Context) error {
	sim, err := projections.FindSimulation(ctx, a.DB, a.sim.ID)
	if err != nil || sim.Deleted == "" && sim.ResultsPrefix == a.files.prefix {
		return err
	}
	a.files.kept = false
	_ = a.files.wait() // so that nothing is stored after the deletion
	return a.Objects.DeletePrefix(ctx, a.files.prefix)
}

// tidy removes old snapshots, which a worker leaves if it dies before it removes
// them.
func (a *attempt) tidy(ctx context.Context) {
	prefix := a.files.prefix + snapshotFolder
	for o, err := range a.Objects.List(ctx, prefix) {
		isIt := func(f File) bool { return a.files.prefix+f.Name == o.Key }
		if err == nil && !slices.ContainsFunc(a.files.snapshots, isIt) {
			err = a.Objects.Delete(ctx, o.Key)
		}
		if err != nil {
			a.Log.WarnContext(ctx, "old engine snapshots were not removed", "simulation", a.sim.ID, "prefix", prefix, "error", err)
			return
		}
	}
}

// dropUploads removes the unfinished uploads of all attempts.
func (r *Runner) dropUploads(ctx context.Context, simulation string) error {
	for begun, err := range r.Objects.ListBegun(ctx, Prefix(simulation)) {
		if err != nil {
			return err
		}
		if err := r.Objects.DropParts(ctx, begun.Key, begun.ID); err != nil {
			return err
		}
	}
	return nil
}
