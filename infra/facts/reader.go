package facts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"sync"
	"time"

	"netsim/events"
)

// Log is the log that facts are read from. eventlog.Kafka implements it.
type Log interface {
	Topic(family events.Family) string
	// Recall returns records from an offset on that are in the log, from memory if it
	// has them. It returns none when the broker returns none in time.
	Recall(ctx context.Context, topic string, partition int32, from int64, maxBytes int, wait time.Duration) ([]events.Record, int64, error)
}

// Verdicts says which records are facts. projector.Watcher implements it.
type Verdicts interface {
	// Next returns the first offset of the partition that is not judged.
	Next(family events.Family, partition int32) int64
	// Changes returns a channel that receives a value after Next of a partition of
	// the families has grown, until stop.
	Changes(families ...events.Family) (changed <-chan struct{}, stop func())
	// Rejected returns the records in [from, to) that are judged and are not facts.
	Rejected(ctx context.Context, family events.Family, partition int32, from, to int64) (map[int64]events.Verdict, error)
}

// Batch is a range of a partition. All its records are judged.
type Batch struct {
	From, To int64      // offsets; To is not included
	Facts    []Fact     // in order
	Rejected []int64    // the offsets of records that are not facts, ascending
	Last     events.Sum // of the record before To; zero if there is no record right before it
	bytes    int
}

// Fact is a fact, with its record. The record shares memory with others.
type Fact struct {
	events.Fact
	Record *events.Record
	Err    error // why this release cannot decode the fact, which then has its position only
}

// Size returns the size of the fact's record in bytes, without its headers.
func (f *Fact) Size() int { return len(f.Record.Key) + len(f.Record.Value) }

// The limits of a Reader, in bytes.
const (
	fetchBytes  = 256 << 10 // one fetch
	bulkBytes   = 1 << 20   // one fetch of NewFrameReader
	recentBytes = 256 << 10 // the recent batches of a partition; the last one may be larger
	maxRecent   = 64        // batches
)

// fetchWait bounds a fetch of records that are judged and that the broker does
// not return yet.
const fetchWait = time.Second

// Reader reads facts for the subscribers of a process. It is safe for
// concurrent use.
type Reader struct {
	log        Log
	verdicts   Verdicts
	fetchBytes int
	decode     func(events.Family, *events.Record) Fact

	mu         sync.Mutex
	partitions map[partitionKey]*partition
}

type partitionKey struct {
	family    events.Family
	partition int32
}

// partition has the batches that were read last, the newest at the end.
type partition struct {
	reading chan struct{} // holds a value while one subscriber reads; it guards recent
	recent  []Batch
}

// NewReader returns a reader of the log.
func NewReader(log Log, verdicts Verdicts) *Reader {
	return &Reader{log: log, verdicts: verdicts, fetchBytes: fetchBytes, decode: Decode, partitions: map[partitionKey]*partition{}}
}

// NewFrameReader returns a reader for work that reads much of the log at once. It
// fetches more at a time, and does not decode the data of facts: their Data is nil, and
// their Err is nil also for data that this release cannot decode.
func NewFrameReader(log Log, verdicts Verdicts) *Reader {
	return &Reader{log: log, verdicts: verdicts, fetchBytes: bulkBytes, decode: decodeFrame, partitions: map[partitionKey]*partition{}}
}

// Next waits until the record at the offset from is judged, and returns a batch
// that begins with it. Callers must not change the batch.
func (r *Reader) Next(ctx context.Context, family events.Family, number int32, from int64) (Batch, error) {
	if err := r.await(ctx, family, number, from); err != nil {
		return Batch{}, err
	}
	p := r.partition(partitionKey{family, number})
	select {
	case p.reading <- struct{}{}:
	case <-ctx.Done():
		return Batch{}, ctx.Err()
	}
	defer func() { <-p.reading }()
	for _, b := range slices.Backward(p.recent) {
		if b.From <= from && from < b.To {
			return b.since(from), nil
		}
	}
	b, err := r.read(ctx, family, number, from)
	if err != nil {
		return Batch{}, fmt.Errorf("read the facts of %s/%d from %d: %w", family, number, from, err)
	}
	p.add(b)
	return b, nil
}

func (r *Reader) partition(key partitionKey) *partition {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.partitions[key]
	if p == nil {
		p = &partition{reading: make(chan struct{}, 1)}
		r.partitions[key] = p
	}
	return p
}

// await waits until the record at the offset is judged.
func (r *Reader) await(ctx context.Context, family events.Family, number int32, offset int64) error {
	if r.verdicts.Next(family, number) > offset {
		return nil
	}
	changed, stop := r.verdicts.Changes(family)
	defer stop()
	for r.verdicts.Next(family, number) <= offset {
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// read reads judged records.
func (r *Reader) read(ctx context.Context, family events.Family, number int32, from int64) (Batch, error) {
	judged := r.verdicts.Next(family, number)
	if judged <= from {
		return Batch{}, errors.New("the read model has lost the verdicts")
	}
	var records []events.Record
	for len(records) == 0 {
		var err error
		records, _, err = r.log.Recall(ctx, r.log.Topic(family), number, from, r.fetchBytes, fetchWait)
		if err != nil {
			return Batch{}, err
		}
	}
	end := sort.Search(len(records), func(i int) bool { return records[i].Offset >= judged })
	if end == 0 { // no record from here to judged, as after a transaction of another writer
		return Batch{From: from, To: judged}, nil
	}
	records = records[:end]
	b := Batch{From: from, To: records[end-1].Offset + 1, Last: events.SumOf(&records[end-1])}
	rejected, err := r.verdicts.Rejected(ctx, family, number, b.From, b.To)
	if err != nil {
		return Batch{}, err
	}
	b.Facts = make([]Fact, 0, len(records))
	for i := range records {
		record := &records[i]
		b.bytes += len(record.Key) + len(record.Value)
		if _, not := rejected[record.Offset]; not {
			b.Rejected = append(b.Rejected, record.Offset)
			continue
		}
		b.Facts = append(b.Facts, r.decode(family, record))
	}
	return b, nil
}

// Decode decodes an accepted record.
func Decode(family events.Family, record *events.Record) Fact {
	f := decodeFrame(family, record)
	if f.Err == nil {
		f.Data, f.Err = events.Decode(f.Type, record.Value)
	}
	return f
}

// decodeFrame decodes an accepted record without its data.
func decodeFrame(family events.Family, record *events.Record) Fact {
	f := Fact{Record: record, Fact: events.Fact{
		Family: family, Partition: record.Partition, Offset: record.Offset, RecordedAt: record.Time,
	}}
	f.Frame, f.Hash, f.Err = events.ReadFrame(&record.Message)
	return f
}

// since returns the part of the batch from an offset on.
func (b Batch) since(from int64) Batch {
	b.From = from
	b.Facts = b.Facts[sort.Search(len(b.Facts), func(i int) bool { return b.Facts[i].Offset >= from }):]
	b.Rejected = b.Rejected[sort.Search(len(b.Rejected), func(i int) bool { return b.Rejected[i] >= from }):]
	return b
}

// add keeps the batch and drops the oldest ones.
func (p *partition) add(b Batch) {
	p.recent = append(p.recent, b)
	first, total := len(p.recent)-1, b.bytes
	for first > 0 && len(p.recent)-first < maxRecent && total+p.recent[first-1].bytes <= recentBytes {
		first--
		total += p.recent[first].bytes
	}
	p.recent = slices.Delete(p.recent, 0, first)
}
