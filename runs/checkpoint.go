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

// keptCheckpoints is how many of a simulation stay in the object store: the
// newest, and the one before it in case the newest cannot be gone on from.
const keptCheckpoints = 2

// of is what our part of a checkpoint is of: where the result files stand.
const of = "result files 1"

// standing is that part.
type standing struct {
	prefix      string
	done        []File
	open        []openFile
	checkpoints []File // those before this one that are kept
	lines       int64  // of the log
	ran         time.Duration
}

// openFile is a result file that is being written.
type openFile struct {
	name string
	at   objects.Standing
}

func (s *standing) visit(c *snapshot.Codec) {
	c.Text(&s.prefix)
	snapshot.Slice(c, &s.done, func(f *File) { f.visit(c) })
	snapshot.Slice(c, &s.checkpoints, func(f *File) { f.visit(c) })
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

// standing is where the files stand.
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

// every is the wall-clock time between two checkpoints, 0 for none.
func (a *attempt) every() time.Duration {
	if a.sim.CheckpointIntervalNs == 0 || a.ended {
		return 0
	}
	return cmp.Or(a.Checkpoint, time.Duration(a.sim.CheckpointIntervalNs))
}

// leaveWithin is how long a worker that is to stop may take to leave a
// checkpoint.
const leaveWithin = 5 * time.Second

// errLeft ends the engine of a worker that is to stop.
var errLeft = errors.New("the worker is to stop")

// outlive returns a context that goes on when the worker is to stop, until the
// run has left a checkpoint or has had the time to.
func (a *attempt) outlive(ctx context.Context) (live context.Context, end func()) {
	live, cancel := context.WithCancel(context.WithoutCancel(ctx))
	forget := context.AfterFunc(ctx, func() {
		if a.every() == 0 {
			cancel()
			return
		}
		a.leaving.Store(true)
		time.AfterFunc(leaveWithin, cancel)
	})
	return live, func() {
		forget()
		cancel()
	}
}

// maxMissed is how many checkpoints in a row may be missing.
const maxMissed = 5

// checkpoint stores the state of the run when it is time to, or when the worker
// is to stop. A run that the object store takes no checkpoint of fails. When a
// checkpoint cannot be recorded for another reason, the next is tried in its
// time, a few times.
func (a *attempt) checkpoint(ctx context.Context, save func(io.Writer) error) error {
	leaving := a.leaving.Load()
	if every := a.every(); every == 0 || !leaving && a.Now().Sub(a.saved) < every {
		return nil
	}
	err := a.store(ctx, save)
	a.saved = a.Now()
	switch {
	case err == nil:
		a.missed = 0
	case ctx.Err() == nil:
		a.missed++
		a.Log.WarnContext(ctx, "a checkpoint could not be stored", "simulation", a.sim.ID, "error", err)
	}
	switch {
	case leaving:
		return errLeft
	case a.files.err != nil:
		return a.files.err // what the result files do not survive, the run does not
	case errors.As(err, new(unstored)):
		return err
	case a.missed >= maxMissed:
		return unstored{fmt.Sprintf("%d checkpoints in a row could not be stored", a.missed)}
	}
	return nil
}

// store writes a checkpoint, records it once its bytes are durable, and removes
// the one that is no longer needed.
func (a *attempt) store(ctx context.Context, save func(io.Writer) error) error {
	var state bytes.Buffer // it is where the files stand afterwards that counts
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
	at.checkpoints = a.files.checkpoints[max(len(a.files.checkpoints)+1-keptCheckpoints, 0):]
	index := max(a.sim.Checkpoint, a.index) + 1
	name := "checkpoints/" + strconv.FormatInt(index, 10) + ".state"
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
		return fmt.Errorf("record checkpoint %d of %s: %w", index, a.sim.ID, err)
	}
	a.index, a.files.kept = index, true
	s := up.Stored()
	a.files.checkpoints = append(a.files.checkpoints, File{name, s.Size, s.SHA256, contentType, kind})
	if old := len(a.files.checkpoints) - keptCheckpoints; old > 0 {
		for _, f := range a.files.checkpoints[:old] {
			err = errors.Join(err, a.Objects.Delete(ctx, a.files.prefix+f.Name))
		}
		a.files.checkpoints = a.files.checkpoints[old:]
	}
	return err
}

// write writes a checkpoint, compressed.
func write(w io.Writer, at *standing, state *bytes.Buffer) error {
	z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	err = snapshot.Write(z, of, at.visit)
	if err == nil {
		_, err = state.WriteTo(z)
	}
	return errors.Join(err, z.Close())
}
