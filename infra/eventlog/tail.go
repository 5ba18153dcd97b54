package eventlog

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"netsim/events"
)

// A tail keeps the newest records that this process has appended to a partition
// that it follows, so that Follow returns them without a round trip to the broker.
// They have the offsets and the time that the broker acknowledged, and equal the
// records that a fetch returns.
//
// The records are contiguous. When another process has appended in between, or a
// batch was in doubt, the tail begins again behind the gap, and readers fetch.
type tail struct {
	mu      sync.Mutex
	records []events.Record
	sizes   []int // of records, in bytes
	bytes   int
	grown   chan struct{} // closed when records are added
	last    time.Time     // of the last append
}

const (
	// tailBytes bounds the records of a tail.
	tailBytes = 1 << 20
	// tailQuiet is how long a reader waits for the next append of this process
	// before it fetches. It delays the first record of another process in a
	// partition to which this one has just appended.
	tailQuiet = 20 * time.Millisecond
)

// tailOf returns the tail of a partition. With begin it makes one if there is none.
func (k *Kafka) tailOf(at topicPartition, begin bool) *tail {
	k.mu.Lock()
	defer k.mu.Unlock()
	t := k.tails[at]
	if t == nil && begin {
		t = &tail{grown: make(chan struct{})}
		k.tails[at] = t
	}
	return t
}

// add adds the records of a batch, the first of which has the offset base.
func (t *tail) add(at topicPartition, batch []*Pending, base int64, appended time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.records); n > 0 && t.records[n-1].Offset+1 != base {
		t.records, t.sizes, t.bytes = nil, nil, 0
	}
	for i, p := range batch {
		t.records = append(t.records, events.Record{
			Message: p.message, Topic: at.topic, Partition: at.partition, Offset: base + int64(i), Time: appended,
		})
		t.sizes = append(t.sizes, p.size)
		t.bytes += p.size
	}
	drop := 0
	for ; t.bytes > tailBytes && drop < len(t.records); drop++ {
		t.bytes -= t.sizes[drop]
		t.records[drop] = events.Record{} // for the garbage collector
	}
	t.records, t.sizes = t.records[drop:], t.sizes[drop:]
	t.last = time.Now()
	close(t.grown)
	t.grown = make(chan struct{})
}

// since returns the records from an offset on, up to about maxBytes. It returns
// none when the tail does not have that offset, and then a channel that is closed
// when records are added, and how long to wait for that before fetching.
func (t *tail) since(from int64, maxBytes int) (found []events.Record, end int64, grown <-chan struct{}, quiet time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(t.records)
	if n == 0 {
		return nil, 0, t.grown, tailQuiet - time.Since(t.last)
	}
	end = t.records[n-1].Offset + 1
	first := t.records[0].Offset
	if from < first || from > end {
		return nil, end, t.grown, 0
	}
	if from == end {
		return nil, end, t.grown, tailQuiet - time.Since(t.last)
	}
	begin := int(from - first)
	upTo, size := begin, 0
	for upTo < n && (upTo == begin || size+t.sizes[upTo] <= maxBytes) {
		size += t.sizes[upTo]
		upTo++
	}
	return slices.Clone(t.records[begin:upTo]), end, nil, 0 // add clears what it drops
}

// Follow is Read for a reader that follows the partition. It returns the records
// that this process has appended from memory, and fetches the others. A fetch that
// is under way when this process appends ends in the background.
func (k *Kafka) Follow(ctx context.Context, topic string, partition int32, from int64, maxBytes int, wait time.Duration) ([]events.Record, int64, error) {
	t := k.tailOf(topicPartition{topic, partition}, true)
	deadline := time.Now().Add(wait)
	var fetched chan fetchedRecords
	for {
		found, end, grown, quiet := t.since(from, maxBytes)
		if len(found) > 0 {
			return found, end, nil
		}
		quiet = min(quiet, time.Until(deadline))
		if fetched == nil && quiet <= 0 {
			fetched = make(chan fetchedRecords, 1)
			go func() {
				records, high, err := k.Read(ctx, topic, partition, from, maxBytes, max(0, time.Until(deadline)))
				fetched <- fetchedRecords{records, high, err}
			}()
		}
		var appends <-chan time.Time // ends the wait for this process's next append
		if fetched == nil {
			timer := time.NewTimer(quiet)
			defer timer.Stop()
			appends = timer.C
		}
		select {
		case <-grown:
		case <-appends:
		case got := <-fetched:
			return got.records, got.high, got.err
		case <-ctx.Done():
			return nil, 0, fmt.Errorf("read %s/%d from %d: %w", topic, partition, from, ctx.Err())
		}
	}
}

// fetchedRecords is what Read returned.
type fetchedRecords struct {
	records []events.Record
	high    int64
	err     error
}
