package lake

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"time"

	"netsim/events"
	"netsim/infra/facts"
	"netsim/stream/tables"
)

// buffer gathers the facts of a table until they are cut.
type buffer struct {
	table *tableEntry
	limit int64         // bytes of facts
	begun chan struct{} // receives a value when the file gets its first records
	full  chan struct{} // receives a value when the limit is reached

	mu   sync.Mutex
	room *sync.Cond // signals that the buffer was cut
	ends bool       // nothing is added any more
	file *file
}

// file is a Parquet file that is being written, and what it has of each partition.
type file struct {
	content *bytes.Buffer
	parquet *tables.Parquet
	bytes   int64            // of the facts
	rows    int64            //
	moved   map[source]moved // of the table's family
	oldest  time.Time        // when its first fact was recorded; zero without one
}

// moved is a range of a partition.
type moved struct {
	from, to int64
	anchor   events.Anchor // at its end, without the topic; zero if it is not known
}

func newBuffer(t *tableEntry, limit int64, begun, full chan struct{}) *buffer {
	b := &buffer{table: t, limit: limit, begun: begun, full: full}
	b.room = sync.NewCond(&b.mu)
	b.file = b.begin()
	return b
}

func (b *buffer) begin() *file {
	return &file{content: &bytes.Buffer{}, moved: map[source]moved{}}
}

// add appends the facts of a partition. It waits while the file is at its limit.
func (b *buffer) add(ctx context.Context, s source, batch *facts.Batch) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.file.bytes >= b.limit && !b.ends {
		b.room.Wait()
	}
	if b.ends {
		return context.Cause(ctx)
	}
	f := b.file
	for i := range batch.Facts {
		fact := &batch.Facts[i]
		if f.parquet == nil {
			f.parquet = tables.NewParquet(f.content, b.table.Table)
			f.oldest = fact.RecordedAt
		}
		if err := f.parquet.Append(fact); err != nil {
			return fmt.Errorf("add a fact to the table %s: %w", b.table.Name, err)
		}
		if fact.RecordedAt.Before(f.oldest) {
			f.oldest = fact.RecordedAt
		}
		f.bytes += int64(fact.Size())
		f.rows++
	}
	if len(f.moved) == 0 {
		signal(b.begun)
	}
	m, begun := f.moved[s]
	if !begun {
		m.from = batch.From
	}
	m.to, m.anchor = batch.To, m.anchor.After(batch.To, batch.Last)
	f.moved[s] = m
	if f.bytes >= b.limit {
		signal(b.full)
	}
	return nil
}

// cut takes the file out, and begins another.
func (b *buffer) cut() *file {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := b.file
	if len(f.moved) == 0 {
		return nil
	}
	b.file = b.begin()
	b.room.Broadcast()
	return f
}

// end makes add return.
func (b *buffer) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ends = true
	b.room.Broadcast()
}

// pending returns whether anything is gathered, and when the oldest fact was recorded; the
// time is zero when there are only records that are not facts.
func (b *buffer) pending() (any bool, oldest time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.file.moved) > 0, b.file.oldest
}

// signal sends a value unless one is waiting.
func signal(to chan struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}
