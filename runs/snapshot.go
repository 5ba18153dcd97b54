package runs

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/klauspost/compress/zstd"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/infra/objects"
	"netsim/simulator/snapshot"
)

// keptSnapshots is how many snapshots of a simulation stay in the object store:
// the newest, and the one before it in case the newest cannot be used.
const keptSnapshots = 2

// snapshotFolder holds the snapshots below an attempt's prefix. Its name, that of
// the event and that of the setting call an engine snapshot a checkpoint.
const snapshotFolder = "checkpoints/"

// of is the content of the section of a snapshot that this package writes: the
// state of the result files.
const sectionName = "result files 1"

// standing is the content of that section.
type standing struct {
	prefix    string
	done      []File
	open      []openFile
	snapshots []File        // the earlier ones that are kept
	lines     int64         // of the log
	ran       time.Duration // wall-clock time of the run until then
}

// openFile is a result file that is being written.
type openFile struct {
	name string
	at   objects.Standing
}

func (s *standing) visit(c *snapshot.Codec) {
	c.Text(&s.prefix)
	snapshot.Slice(c, &s.done, func(f *File) { f.visit(c) })
	snapshot.Slice(c, &s.snapshots, func(f *File) { f.visit(c) })
	snapshot.Int(c, &s.lines)
	snapshot.Int(c, &s.ran)
	snapshot.Slice(c, &s.open, func(f *openFile) {
		c.Text(&f.name)
		c.Text(&f.at.Key)
		c.Text(&f.at.ContentType)
		c.Text(&f.at.UploadID)
		snapshot.Slice(c, &f.at.ETags, c.Text)
		c.Bytes(&f.at.Pending)
		c.Bytes(&f.at.Sum)
	})
}

func (f *File) visit(c *snapshot.Codec) {
	c.Text(&f.Name)
	snapshot.Int(c, &f.Size)
	c.Text(&f.SHA256)
	c.Text(&f.ContentType)
	c.Text(&f.Type)
}

// standing returns the state of the result files.
func (f *files) standing() (standing, error) {
	s := standing{prefix: f.prefix, done: f.done.Files}
	for _, w := range f.open {
		at, err := w.Stand()
		if err != nil {
			return s, f.note(err)
		}
		s.open = append(s.open, openFile{w.Name, at})
	}
	return s, nil
}

// every returns the wall-clock time between two snapshots, 0 for none.
func (a *attempt) every() time.Duration {
	if a.sim.CheckpointIntervalNs == 0 || a.ended {
		return 0
	}
	return cmp.Or(a.SnapshotEvery, time.Duration(a.sim.CheckpointIntervalNs))
}

// finalSnapshotTimeout is how long a worker that is to stop may take to write a snapshot.
const finalSnapshotTimeout = 5 * time.Second

// errWorkerStopping stops the engine of a worker that is to stop.
var errWorkerStopping = errors.New("the worker is to stop")

// outlive returns a context that ends after ctx: once the run has written a
// snapshot, or finalSnapshotTimeout later.
func (a *attempt) outlive(ctx context.Context) (live context.Context, end func()) {
	live, cancel := context.WithCancel(context.WithoutCancel(ctx))
	forget := context.AfterFunc(ctx, func() {
		if a.every() == 0 {
			cancel()
			return
		}
		a.workerStopping.Store(true)
		time.AfterFunc(finalSnapshotTimeout, cancel)
	})
	return live, func() {
		forget()
		cancel()
	}
}

// maxMissed is how many snapshots in a row may fail before the run does.
const maxMissed = 5

// snapshot stores the state of the run when it is due, or when the worker is to
// stop. If the object store does not take it, the run fails. If it fails for
// another reason, the next one is tried when it is due.
func (a *attempt) snapshot(ctx context.Context, save func(io.Writer) error) error {
	stopping := a.workerStopping.Load()
	if every := a.every(); every == 0 || !stopping && a.Now().Sub(a.saved) < every {
		return nil
	}
	err := a.store(ctx, save)
	a.saved = a.Now()
	switch {
	case err == nil:
		a.missed = 0
	case ctx.Err() == nil:
		a.missed++
		a.Log.WarnContext(ctx, "an engine snapshot could not be stored", "simulation", a.sim.ID, "error", err)
	}
	switch {
	case stopping:
		return errWorkerStopping
	case a.files.err != nil:
		return a.files.err // without its result files the run fails
	case errors.As(err, new(unstored)):
		return err
	case a.missed >= maxMissed:
		return unstored{fmt.Sprintf("%d engine snapshots in a row could not be stored", a.missed)}
	}
	return nil
}

// store writes a snapshot, records it once its bytes are durable, and removes the
// one that is no longer kept.
func (a *attempt) store(ctx context.Context, save func(io.Writer) error) error {
	var state bytes.Buffer // saving writes to the files, so their state is read afterwards
	if err := save(&state); err != nil {
		return err
	}
	a.log.flush(ctx)
	lines, stored := a.log.stored()
	if !stored {
		return errors.New("the log is not stored")
	}
	at, err := a.files.standing()
	if err != nil {
		return err
	}
	at.lines, at.ran = lines, a.takes()
	at.snapshots = a.files.snapshots[max(len(a.files.snapshots)+1-keptSnapshots, 0):]
	index := max(a.sim.Checkpoint, a.index) + 1
	name := snapshotFolder + strconv.FormatInt(index, 10) + ".state"
	contentType, kind := typesOf(name)
	up := a.files.upload(name, contentType)
	if err := write(up, &at, &state); err != nil {
		return errors.Join(err, up.Abort())
	}
	if err := up.Close(); err != nil {
		return err
	}
	_, err = handle.Command(ctx, a.Commands, target(&a.sim), handle.System(a.sim.ID, "checkpoint", strconv.FormatInt(index, 10)),
		commands.RecordSnapshot{Checkpointed: events.SimulationCheckpointed{
			Index: index, ObjectKey: a.files.prefix + name, SimulatedTimeNs: a.run.Progress().Time / 1000,
		}})
	if err != nil {
		return fmt.Errorf("record snapshot %d of %s: %w", index, a.sim.ID, err)
	}
	a.index, a.files.kept = index, true
	s := up.Stored()
	a.files.snapshots = append(a.files.snapshots, File{name, s.Size, s.SHA256, contentType, kind})
	if old := len(a.files.snapshots) - keptSnapshots; old > 0 {
		for _, f := range a.files.snapshots[:old] {
			err = errors.Join(err, a.Objects.Delete(ctx, a.files.prefix+f.Name))
		}
		a.files.snapshots = a.files.snapshots[old:]
	}
	return err
}

// write writes a compressed snapshot.
func write(w io.Writer, at *standing, state *bytes.Buffer) error {
	z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	err = snapshot.Write(z, sectionName, at.visit)
	if err == nil {
		_, err = state.WriteTo(z)
	}
	return errors.Join(err, z.Close())
}
