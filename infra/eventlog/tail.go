package eventlog

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"netsim/events"
)

// tails keep the newest records that this process has appended to the partitions that
// it follows, so that Follow and Recall return them without a round trip to the broker.
// They have the offsets and the time that the broker acknowledged, and equal the
// records that a fetch returns. All share one budget. Safe for concurrent use.
type tails struct {
	mu     sync.Mutex
	all    map[topicPartition]*tail
	bytes  int // of the records
	budget int // of bytes
}

// tail is that of one partition. Its records are contiguous. When another process has
// appended in between, or a batch was in doubt, the tail begins again behind the gap,
// and readers fetch.
type tail struct {
	records []events.Record
	sizes   []int         // of records, in bytes
	grown   chan struct{} // closed when records are added
	last    time.Time     // of the last append
}

const (
	// tailBytes is the budget of all tails, in bytes of records as they are stored; in
	// memory they are about twice as large. It is what 64 clients append in a second,
	// within which the projector and the reactions have read it.
	tailBytes = 4 << 20
	// tailQuiet is how long a reader waits for the next append of this process
	// before it fetches. It delays the first record of another process in a
	// partition to which this one has just appended.
	tailQuiet = 20 * time.Millisecond
)

func newTails(budget int) *tails { return &tails{all: map[topicPartition]*tail{}, budget: budget} }

// follow makes the partition's tail if there is none.
func (s *tails) follow(at topicPartition) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all[at] == nil {
		s.all[at] = &tail{grown: make(chan struct{})}
	}
}

// add adds the records of a batch, the first of which has the offset base, if the
// partition is followed. Beyond the budget it drops the records that were appended
// first, of any partition.
func (s *tails) add(at topicPartition, batch []*Pending, base int64, appended time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.all[at]
	if t == nil {
		return
	}
	if n := len(t.records); n > 0 && t.records[n-1].Offset+1 != base {
		s.bytes -= t.drop(n)
	}
	for i, p := range batch {
		t.records = append(t.records, events.Record{
			Message: p.message, Topic: at.topic, Partition: at.partition, Offset: base + int64(i), Time: appended,
		})
		t.sizes = append(t.sizes, p.size)
		s.bytes += p.size
	}
	t.last = time.Now()
	close(t.grown)
	t.grown = make(chan struct{})
	for s.bytes > s.budget {
		s.bytes -= s.oldest().drop(1)
	}
}

// oldest returns the tail with the record that was appended first. There is one.
func (s *tails) oldest() (oldest *tail) {
	for _, t := range s.all {
		if len(t.records) > 0 && (oldest == nil || t.records[0].Time.Before(oldest.records[0].Time)) {
			oldest = t
		}
	}
	return oldest
}

// drop drops the first n records, and those that were appended with the last of them,
// and returns their size in bytes.
func (t *tail) drop(n int) (bytes int) {
	at := t.records[n-1].Time
	for n < len(t.records) && t.records[n].Time.Equal(at) {
		n++
	}
	for i := range n {
		bytes += t.sizes[i]
		t.records[i] = events.Record{} // for the garbage collector
	}
	t.records, t.sizes = t.records[n:], t.sizes[n:]
	return bytes
}

// since returns the records from an offset on, up to about maxBytes. It returns
// none when the tail does not have that offset, and then a channel that is closed
// when records are added, and how long to wait for that before fetching.
func (s *tails) since(at topicPartition, from int64, maxBytes int) (found []events.Record, end int64, grown <-chan struct{}, quiet time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.all[at]
	if t == nil {
		return nil, 0, nil, 0
	}
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
	return slices.Clone(t.records[begin:upTo]), end, nil, 0 // drop clears what it drops
}

// Recall is Read for a record that is in the log already. It returns records from
// memory when this process has appended them and still has them, and else fetches.
func (k *Kafka) Recall(ctx context.Context, topic string, partition int32, from int64, maxBytes int, wait time.Duration) ([]events.Record, int64, error) {
	if found, end, _, _ := k.tails.since(topicPartition{topic, partition}, from, maxBytes); len(found) > 0 {
		return found, end, nil
	}
	return k.Read(ctx, topic, partition, from, maxBytes, wait)
}

// Follow is Read for a reader that follows the partition. It returns the records
// that this process has appended from memory, and fetches the others. A fetch that
// is under way when this process appends ends in the background.
func (k *Kafka) Follow(ctx context.Context, topic string, partition int32, from int64, maxBytes int, wait time.Duration) ([]events.Record, int64, error) {
	at := topicPartition{topic, partition}
	k.tails.follow(at)
	deadline := time.Now().Add(wait)
	var fetched chan fetchedRecords
	for {
		found, end, grown, quiet := k.tails.since(at, from, maxBytes)
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
