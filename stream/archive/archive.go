package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"netsim/events"
	"netsim/fault"
	"netsim/infra/eventlog"
)

// Archive reads an archive. It is safe for concurrent use.
type Archive struct {
	target   Target
	last     *Segment
	segments []int64 // numbers
	sections map[at][]stored
	unzip    *zstd.Decoder
}

// at is a partition.
type at struct {
	family    events.Family
	partition int32
}

// stored is a section and the file in which it is.
type stored struct {
	Section
	file string
}

// Damage is a defect of an archive.
type Damage struct {
	File string
	What string
}

func (d Damage) String() string { return d.File + " " + d.What }

// ErrDamaged is wrapped by the error for an archive with defects.
var ErrDamaged = errors.New("the archive is damaged")

// Open reads the notes of an archive, one of the keys must have signed the last. It
// returns what is wrong with the notes; an archive with such damage has no more
// segments than those before it.
func Open(ctx context.Context, target Target, keys []string) (*Archive, []Damage, error) {
	names, err := target.Names(ctx)
	if err != nil {
		return nil, nil, err
	}
	unzip, err := zstd.NewReader(nil, zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxSection))
	if err != nil {
		return nil, nil, fmt.Errorf("decompress: %w", err)
	}
	a := &Archive{target: target, last: &Segment{}, sections: map[at][]stored{}, unzip: unzip}
	there := map[string]bool{}
	newest := int64(0)
	for _, name := range names {
		there[name] = true
		var n int64
		if _, err := fmt.Sscanf(name, "%d.note", &n); err == nil && noteName(n) == name {
			newest = max(newest, n)
		}
	}
	if newest == 0 {
		return nil, nil, fault.New(fault.NotFound, "there is no archive of a log: no file %s", noteName(1))
	}
	var damage []Damage
	previous := ""
	for n := int64(1); n <= newest; n++ {
		s, sum, err := a.note(ctx, n, previous, n == newest, keys)
		if fault.CodeOf(err) == fault.Unavailable || ctx.Err() != nil {
			return nil, nil, err
		}
		if err == nil {
			err = a.add(s)
		}
		if err != nil {
			damage = append(damage, Damage{noteName(n), err.Error()})
			break
		}
		delete(there, noteName(n))
		if len(s.Sections) > 0 {
			if !there[fileName(s)] {
				missing, err := isMissing(ctx, target, fileName(s))
				if err != nil {
					return nil, nil, err
				}
				if missing {
					damage = append(damage, Damage{fileName(s), "is missing"})
				}
			}
			delete(there, fileName(s))
		}
		previous = sum
	}
	maps.DeleteFunc(there, func(name string, _ bool) bool { return isFile.MatchString(name) }) // of a run that was killed, or of the slower of two
	if len(damage) == 0 {
		for _, name := range slices.Sorted(maps.Keys(there)) {
			damage = append(damage, Damage{name, "is not of the archive"})
		}
	}
	return a, damage, nil
}

// isMissing asks for a file that a list did not have: it may have been written after the
// list had passed its place.
func isMissing(ctx context.Context, target Target, name string) (bool, error) {
	in, err := target.Part(ctx, name, 0, 1)
	if fault.CodeOf(err) == fault.NotFound {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, in.Close()
}

// maxSection bounds a section after decompression, in bytes.
const maxSection = 512 << 20

// note reads the note of a segment and verifies that it follows the one before.
func (a *Archive) note(ctx context.Context, number int64, previous string, last bool, keys []string) (*Segment, string, error) {
	signed, err := readAll(ctx, a.target, noteName(number))
	if fault.CodeOf(err) == fault.NotFound {
		return nil, "", errors.New("is missing")
	}
	if err != nil {
		return nil, "", err
	}
	s, err := unsigned(signed)
	switch {
	case err != nil:
		return nil, "", fmt.Errorf("cannot be read: %w", err)
	case s.Number != number:
		return nil, "", fmt.Errorf("is the note of segment %d", s.Number)
	case s.Previous != previous:
		return nil, "", errors.New("does not follow the note before it: one of them was changed, or is of another archive")
	case last:
		if err := trusted(signed, keys); err != nil {
			return nil, "", fmt.Errorf("cannot be trusted: %w", err)
		}
	}
	return s, sumOf(signed), nil
}

// add adds a segment after the last one.
func (a *Archive) add(s *Segment) error {
	positions := map[at]int64{}
	for _, p := range a.last.Positions {
		positions[at{p.Family, p.Partition}] = p.Next
	}
	end := int64(0)
	for _, p := range s.Sections {
		key := at{p.Family, p.Partition}
		if p.From != positions[key] || p.To <= p.From || p.At != end || p.Bytes <= 0 {
			return fmt.Errorf("has records of %s/%d from offset %d to %d, they should begin at %d", p.Family, p.Partition, p.From, p.To, positions[key])
		}
		positions[key], end = p.To, p.At+p.Bytes
	}
	for _, p := range s.Positions {
		if p.Next != positions[at{p.Family, p.Partition}] {
			return fmt.Errorf("says that %s/%d is archived up to offset %d, its segments reach %d", p.Family, p.Partition, p.Next, positions[at{p.Family, p.Partition}])
		}
	}
	if a.last.Number > 0 && s.Cluster != a.last.Cluster {
		return fmt.Errorf("is of cluster %s, the one before it of %s", s.Cluster, a.last.Cluster)
	}
	for _, p := range s.Sections {
		key := at{p.Family, p.Partition}
		a.sections[key] = append(a.sections[key], stored{p, fileName(s)})
	}
	if len(s.Groups) == 0 && len(s.Positions) > 0 {
		s.Groups = a.last.Groups // those of the last run that ended
	}
	a.segments, a.last = append(a.segments, s.Number), s
	return nil
}

// Verify reads all files of the archive and compares them with the notes.
func (a *Archive) Verify(ctx context.Context) (damage []Damage, err error) {
	for key, all := range a.sections {
		for _, p := range all {
			_, err := a.read(ctx, key, p)
			switch {
			case errors.Is(err, ErrDamaged):
				damage = append(damage, Damage{p.file, err.Error()})
			case err != nil:
				return nil, err
			}
		}
	}
	slices.SortFunc(damage, func(a, b Damage) int { return strings.Compare(a.String(), b.String()) })
	return damage, nil
}

// read reads the records of a section.
func (a *Archive) read(ctx context.Context, key at, p stored) ([]events.Record, error) {
	in, err := a.target.Part(ctx, p.file, p.At, p.Bytes)
	if fault.CodeOf(err) == fault.NotFound {
		return nil, fmt.Errorf("%w: %s is missing", ErrDamaged, p.file)
	}
	if err != nil {
		return nil, err
	}
	defer in.Close() //nolint:errcheck // only read
	packed, err := io.ReadAll(io.LimitReader(in, p.Bytes))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", p.file, err)
	}
	where := fmt.Sprintf("%s, bytes %d to %d, %s/%d offsets %d to %d", p.file, p.At, p.At+p.Bytes, key.family, key.partition, p.From, p.To)
	if sumOf(packed) != p.SHA256 {
		return nil, fmt.Errorf("%w: %s: the bytes are not those that were signed", ErrDamaged, where)
	}
	set, err := a.unzip.DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrDamaged, where, err)
	}
	records, err := eventlog.ReadBatches(set, string(key.family), key.partition)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrDamaged, where, err)
	}
	if int64(len(records)) != p.To-p.From {
		return nil, fmt.Errorf("%w: %s: it has %d records", ErrDamaged, where, len(records))
	}
	for i := range records {
		if records[i].Offset != p.From+int64(i) {
			return nil, fmt.Errorf("%w: %s: it has a record at offset %d", ErrDamaged, where, records[i].Offset)
		}
	}
	return records, nil
}

// Cluster returns the id of the Kafka cluster whose log the archive has.
func (a *Archive) Cluster() string { return a.last.Cluster }

// Segments returns the number of segments.
func (a *Archive) Segments() int { return len(a.segments) }

// Topics returns the topics, with the ends of their partitions.
func (a *Archive) Topics(context.Context) (all []Shape, err error) {
	for _, t := range a.last.Topics {
		s := Shape{Topic: t}
		for n := range t.Partitions {
			s.Ends = append(s.Ends, a.last.next(t.Family, n))
		}
		all = append(all, s)
	}
	return all, nil
}

// Groups returns what the consumer groups had committed.
func (a *Archive) Groups(context.Context) ([]Group, error) { return a.last.Groups, nil }

// Records returns records of a partition from an offset on, at least one unless the
// archive ends there.
func (a *Archive) Records(ctx context.Context, family events.Family, partition int32, from int64) ([]events.Record, error) {
	key := at{family, partition}
	all := a.sections[key]
	i, found := slices.BinarySearchFunc(all, from, func(p stored, offset int64) int {
		switch {
		case p.To <= offset:
			return -1
		case p.From > offset:
			return 1
		}
		return 0
	})
	if !found {
		return nil, nil
	}
	records, err := a.read(ctx, key, all[i])
	if err != nil {
		return nil, err
	}
	return records[from-all[i].From:], nil
}

// Reader reads an archive as the event log of topics with a prefix.
type Reader struct {
	*Archive
	Prefix string
}

// Read returns records as eventlog.Kafka.Read does.
func (r Reader) Read(ctx context.Context, topic string, partition int32, from int64, _ int, _ time.Duration) ([]events.Record, int64, error) {
	family := events.Family(strings.TrimPrefix(topic, r.Prefix))
	records, err := r.Records(ctx, family, partition, from)
	for i := range records {
		records[i].Topic = topic
	}
	return records, r.last.next(family, partition), err
}
