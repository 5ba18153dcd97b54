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
	"netsim/runs/execution"
	"netsim/simulator/snapshot"
)

// keptSnapshots is the number of snapshots of a simulation that stay in the object
// store: the newest, and the one before it in case the newest cannot be used.
const keptSnapshots = 2

// snapshotFolder is the folder of the snapshots below an attempt's prefix. The
// folder, the event and the setting call an engine snapshot a checkpoint.
const snapshotFolder = "checkpoints/"

// sectionName is the name of the section that this package writes in a snapshot.
const sectionName = "result files 1"

// standing is the state of the result files, the content of that section.
type standing struct {
	prefix    string
	done      []File
	open      []openFile
	snapshots []File        // earlier snapshots that are kept
	lines     int64         // number of log entries
	ran       time.Duration // wall-clock time of the run so far
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

// finalSnapshotTimeout is how long a worker that shuts down may take to write a
// snapshot.
const finalSnapshotTimeout = 5 * time.Second

// errWorkerStopping stops the engine of a worker that shuts down.
var errWorkerStopping = errors.New("the worker is to stop")

// outlive returns a context that outlives ctx by at most finalSnapshotTimeout if the
// run has snapshots, so that it can write a last one.
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

// maxMissed is the number of consecutive failed snapshots after which the run fails.
const maxMissed = 5

// snapshot stores the state of the run when a snapshot is due, the worker shuts down or
// the run is to yield. If the object store does not accept it, the run fails. After another
// error, the next snapshot is tried when it is due; maxMissed errors in a row fail the run.
func (a *attempt) snapshot(ctx context.Context, save func(io.Writer) error) error {
	stopping, yielding, every := a.workerStopping.Load(), a.yielding.Load(), a.every()
	due := every > 0 && (stopping || a.Now().Sub(a.saved) >= every)
	if !due && !yielding {
		return nil
	}
	if yielding {
		a.log.add(execution.Entry{
			At: a.run.Progress().Time, Level: execution.Info, Component: execution.Provisioner,
			Message: "the run yields its worker to another run, and waits for its turn",
		})
	}
	err := a.store(ctx, save)
	a.saved = a.Now()
	switch {
	case err == nil:
		a.missed = 0
	case ctx.Err() == nil:
		if due {
			a.missed++
		}
		a.Log.WarnContext(ctx, "an engine snapshot could not be stored", "simulation", a.sim.ID, "error", err)
	}
	switch {
	case stopping:
		return errWorkerStopping
	case a.files.err != nil:
		return a.files.err // a result file could not be stored, so the run fails
	case errors.As(err, new(unstored)):
		return err
	case a.missed >= maxMissed:
		return unstored{fmt.Sprintf("%d engine snapshots in a row could not be stored", a.missed)}
	case yielding:
		return a.leave(ctx, err)
	}
	return nil
}

// store writes a snapshot, records it once its bytes are durable, and removes the
// oldest if there are too many.
func (a *attempt) store(ctx context.Context, save func(io.Writer) error) error {
	var state bytes.Buffer // save writes to the files, so standing is called after it
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
