package archive

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"netsim/events"
	"netsim/infra/eventlog"
)

// segment returns the next segment with its file, and whether the log has more.
func (a *Archiver) segment(ctx context.Context, d eventlog.Description) (*Segment, []byte, bool, error) {
	s := &Segment{Number: a.last.Number + 1, Cluster: d.ClusterID}
	if a.note != nil {
		s.Previous = sumOf(a.note)
	}
	var file []byte
	left, behind := cmp.Or(a.SegmentBytes, defaultSegment), int64(0)
	for _, t := range d.Topics {
		s.Topics = append(s.Topics, Topic{t.Family, t.ID, int32(len(t.Partitions))})
		for n, p := range t.Partitions {
			at := a.last.position(t.Family, int32(n))
			from, to := at.Next, at.Next
			if left > 0 && from < p.End {
				records, size, err := a.records(ctx, t.Name, int32(n), from, p.End, left)
				if err != nil {
					return nil, nil, false, err
				}
				left -= size
				to = from + int64(len(records))
				sum := events.SumOf(&records[len(records)-1])
				at.Next, at.Last = to, hex.EncodeToString(sum[:])
				packed := a.pack(eventlog.AppendBatches(nil, records))
				s.Sections = append(s.Sections, Section{t.Family, int32(n), from, to, int64(len(file)), int64(len(packed)), sumOf(packed)})
				file = append(file, packed...)
			}
			s.Positions = append(s.Positions, at)
			behind += p.End - to
		}
	}
	a.update(func(r *Report) { r.Behind = behind + s.records() })
	return s, file, behind > 0, nil
}

func (s *Segment) records() (n int64) {
	for _, p := range s.Sections {
		n += p.To - p.From
	}
	return n
}

// records reads records of a partition before an offset until their size is as given.
func (a *Archiver) records(ctx context.Context, topic string, partition int32, from, end int64, bytes int) (all []events.Record, size int, err error) {
	for from < end && size < bytes {
		records, _, err := a.Log.Read(ctx, topic, partition, from, min(readBytes, bytes-size), readWait)
		if err != nil {
			return nil, 0, err
		}
		if len(records) == 0 {
			return nil, 0, fmt.Errorf("%s/%d ends before offset %d, at %d", topic, partition, end, from)
		}
		for i := range records {
			r := &records[i]
			if r.Offset != from {
				return nil, 0, fmt.Errorf("%s/%d has no record at offset %d: the next is %d", topic, partition, from, r.Offset)
			}
			if from == end || size >= bytes {
				break
			}
			all = append(all, *r)
			size += sizeOf(r)
			from++
		}
	}
	return all, size, nil
}

// perRecord is added to the size of a record for what is stored beside its contents.
const perRecord = 32

func sizeOf(r *events.Record) int {
	size := perRecord + len(r.Key) + len(r.Value)
	for _, h := range r.Headers {
		size += len(h.Key) + len(h.Value)
	}
	return size
}

// pack compresses a section.
func (a *Archiver) pack(section []byte) []byte {
	if a.zstd == nil {
		a.zstd, _ = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(maxWindow)) //nolint:errcheck // the options are right
	}
	return a.zstd.EncodeAll(section, nil)
}

// maxWindow bounds the memory for decompressing a section, in bytes.
const maxWindow = 8 << 20
