package archive

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/mod/sumdb/note"

	"netsim/events"
	"netsim/fault"
	"netsim/infra/eventlog"
	"netsim/infra/wait"
	"netsim/stream/export"
)

// Target is where the files of an archive are.
type Target interface {
	export.Target
	// Part opens n bytes of a file from an offset on, fault.NotFound when there is no
	// such file.
	Part(ctx context.Context, name string, at, n int64) (io.ReadCloser, error)
	// Publish writes a small file unless there is one with this name: then it changes
	// nothing, and the error is fault.Conflict. Of several processes that publish one name
	// at the same time, one succeeds.
	Publish(ctx context.Context, name string, content []byte) error
}

// Archiver writes the log to an archive. Run and Follow may be called again, one at a
// time. Several Archivers can write to one archive, also in other processes: each segment
// is of one of them.
type Archiver struct {
	Log    *eventlog.Kafka // Config.Beside has the other topics to archive
	Target Target
	Key    note.Signer
	Keys   []string // public keys that may have signed the last note; that of Key is among them
	// Groups has the consumer groups whose positions are archived, by name.
	Groups map[string]events.Family
	// SegmentBytes is the size of records, before compression, with which a segment
	// ends. 16 MiB when 0.
	SegmentBytes int
	// Done, when set, is called after each run.
	Done func(Report)
	// Step, when set, is called at each step; an error ends the run there.
	Step func(step string) error

	zstd *zstd.Encoder
	last *Segment // nil: the archive was not read yet
	note []byte   // of last; nil for an empty archive

	exclusive bool // the target is known not to replace a note
	proved    bool // all positions of the archive were found in the log

	mu     sync.Mutex
	report Report
}

// Report says how far an archive is.
type Report struct {
	Segments int64
	Records  int64     // archived by this process
	Bytes    int64     // written by this process, compressed
	Behind   int64     // records that the last run saw and that are not archived
	Caught   time.Time // when the last run that archived everything read the ends of the log
	Failures int64     // runs of this process that failed
	Err      error     // of the last run
}

// Report returns how far the archive is. It is safe for concurrent use.
func (a *Archiver) Report() Report {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.report
}

func (a *Archiver) update(f func(*Report)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f(&a.report)
}

const (
	defaultSegment = 16 << 20
	readBytes      = 4 << 20
	readWait       = time.Second
)

// Follow archives what is appended, every so often, until ctx ends. After an error, which
// Done gets, it tries again.
func (a *Archiver) Follow(ctx context.Context, every time.Duration) {
	for ctx.Err() == nil {
		_ = a.Run(ctx)
		if wait.For(ctx, every) != nil {
			return
		}
	}
}

// Run archives the records that the log has when it begins.
func (a *Archiver) Run(ctx context.Context) error {
	began := time.Now()
	err := a.run(ctx)
	a.update(func(r *Report) {
		if r.Err = err; err == nil {
			r.Caught = began
		} else if ctx.Err() == nil {
			r.Failures++
		}
	})
	if err != nil {
		a.last, a.proved = nil, false // the archive is read again
	}
	if a.Done != nil {
		a.Done(a.Report())
	}
	return err
}

func (a *Archiver) run(ctx context.Context) error {
	if err := a.Target.Begin(ctx); err != nil {
		return err
	}
	defer a.Target.Close() //nolint:errcheck // nothing is written any more
	// The archive is read first: another process may archive what is appended after the
	// ends of the log were read.
	if err := a.open(ctx); err != nil {
		return err
	}
	groups, err := a.groups(ctx)
	if err != nil {
		return err
	}
	d, err := a.Log.DescribeAll(ctx)
	if err != nil {
		return err
	}
	for _, t := range d.Topics {
		for _, p := range t.Partitions {
			if p.Start > 0 {
				return fmt.Errorf("topic %s begins at offset %d: the log has lost its first records", t.Name, p.Start)
			}
		}
		if t.Copying() && slices.Contains(events.Families(), t.Family) {
			return fmt.Errorf("topic %s is being restored: archive the log when that is finished", t.Name)
		}
	}
	if err := a.continues(ctx, d); err != nil {
		return err
	}
	for {
		s, file, more, err := a.segment(ctx, d)
		if err != nil {
			return err
		}
		if !more {
			s.Groups = groups
			if len(s.Sections) == 0 && a.note != nil && slices.Equal(groups, a.last.Groups) {
				return nil
			}
		}
		if err := a.write(ctx, s, file); err != nil || !more {
			return err
		}
	}
}

// groups returns what the groups have committed.
func (a *Archiver) groups(ctx context.Context) (all []Group, err error) {
	for name, family := range a.Groups {
		topic := a.Log.Topic(family)
		count, err := a.Log.PartitionsOf(ctx, topic)
		if err != nil || count == 0 {
			return nil, errors.Join(err, ctx.Err())
		}
		committed, err := a.Log.GroupOffsets(ctx, name, topic, int32(count))
		if err != nil {
			return nil, err
		}
		for partition, at := range committed {
			if at.Next > 0 {
				all = append(all, Group{name, family, int32(partition), at.Next, at.Metadata})
			}
		}
	}
	slices.SortFunc(all, func(a, b Group) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Family, b.Family), cmp.Compare(a.Partition, b.Partition))
	})
	return all, nil
}

// open reads the last note. When it is known already, it verifies that no other process
// has written since.
func (a *Archiver) open(ctx context.Context) error {
	if a.last != nil {
		return a.alone(ctx)
	}
	last, signed, err := newest(ctx, a.Target, a.Keys)
	if err != nil {
		return err
	}
	a.last, a.note = last, signed
	if signed == nil {
		return nil
	}
	a.update(func(r *Report) { r.Segments = last.Number })
	return a.exclude(ctx, noteName(last.Number))
}

// Newest reads the newest note of an archive, which one of the keys must have signed. An
// empty target has the segment 0.
func Newest(ctx context.Context, target Target, keys []string) (*Segment, error) {
	last, _, err := newest(ctx, target, keys)
	return last, err
}

// newest returns the last segment and its signed note, which is nil for an empty target.
func newest(ctx context.Context, target Target, keys []string) (*Segment, []byte, error) {
	names, err := target.Names(ctx)
	if err != nil {
		return nil, nil, err
	}
	name := ""
	for _, n := range names {
		switch {
		case strings.HasSuffix(n, ".note"):
			name = max(name, n)
		case !strings.HasSuffix(n, ".zst"):
			return nil, nil, fault.New(fault.Conflict, "the target has the file %s, which is not of an archive of the log: use another target", n)
		}
	}
	if name == "" {
		return &Segment{}, nil, nil
	}
	var last *Segment
	signed, err := readAll(ctx, target, name)
	if err == nil {
		last, err = unsigned(signed)
	}
	if err == nil {
		err = trusted(signed, keys)
	}
	if err == nil && noteName(last.Number) != name {
		err = fmt.Errorf("it is the note of segment %d", last.Number)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read %s of the archive: %w", name, err)
	}
	return last, signed, nil
}

// alone refuses an archive whose last note is not the one that this process has written.
func (a *Archiver) alone(ctx context.Context) error {
	if a.note == nil {
		return nil
	}
	have, err := readAll(ctx, a.Target, noteName(a.last.Number))
	if err == nil && !bytes.Equal(have, a.note) {
		err = fault.New(fault.Conflict, "the note of segment %d in the archive is not the one that this process has written or read", a.last.Number)
	}
	return err
}

// write writes a segment: its file, then its note.
func (a *Archiver) write(ctx context.Context, s *Segment, file []byte) error {
	if err := a.step("segment read"); err != nil {
		return err
	}
	if len(s.Sections) > 0 {
		if err := a.put(ctx, fileName(s), file); err != nil {
			return err
		}
		if err := a.step("file written"); err != nil {
			return err
		}
	}
	signed, err := s.sign(a.Key)
	if err != nil {
		return err
	}
	if err := a.publish(ctx, noteName(s.Number), signed); err != nil {
		return err
	}
	a.last, a.note = s, signed
	a.update(func(r *Report) {
		r.Segments, r.Records, r.Bytes = s.Number, r.Records+s.records(), r.Bytes+int64(len(file)+len(signed))
		r.Behind -= s.records()
	})
	if err := a.step("note written"); err != nil {
		return err
	}
	return a.exclude(ctx, noteName(s.Number))
}

// publish writes a note, which commits its segment. If another process has written a note
// with this number, nothing of this segment is in the archive.
func (a *Archiver) publish(ctx context.Context, name string, signed []byte) error {
	err := a.Target.Publish(ctx, name, signed)
	if fault.CodeOf(err) != fault.Conflict {
		return err
	}
	// The answer to an earlier call may have been lost, or another process has written
	// the same segment.
	have, readErr := readAll(ctx, a.Target, name)
	if readErr != nil || bytes.Equal(have, signed) {
		return readErr
	}
	return fault.New(fault.Conflict, "another process has archived segment %d meanwhile: the next run continues after it", a.last.Number+1)
}

// exclude verifies once that the target does not replace a note: an object store may not
// know conditional writes, and ignore the condition. It publishes the last note again,
// with the same content, which must be refused.
func (a *Archiver) exclude(ctx context.Context, name string) error {
	if a.exclusive {
		return nil
	}
	err := a.Target.Publish(ctx, name, a.note)
	if fault.CodeOf(err) == fault.Conflict {
		a.exclusive = true
		return nil
	}
	if err == nil {
		err = errors.New("the object store replaces objects although it is asked not to (If-None-Match): it must support conditional writes, or two archivers could damage the archive")
	}
	return err
}

func (a *Archiver) put(ctx context.Context, name string, content []byte) error {
	draft, err := a.Target.Create(ctx)
	if err != nil {
		return err
	}
	defer draft.Discard()
	if _, err := draft.Write(content); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := a.step("file begun"); err != nil {
		return err
	}
	return draft.Finish(ctx, name)
}

func (a *Archiver) step(name string) error {
	if a.Step == nil {
		return nil
	}
	return a.Step(name)
}

// maxNote bounds a note, in bytes.
const maxNote = 64 << 20

func readAll(ctx context.Context, t Target, name string) ([]byte, error) {
	in, err := t.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer in.Close() //nolint:errcheck // only read
	content, err := io.ReadAll(io.LimitReader(in, maxNote))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return content, nil
}
