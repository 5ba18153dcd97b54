package projector

import (
	"maps"
	"sync"
	"time"

	"netsim/events"
)

// Stats are the counters of a projector.
type Stats struct {
	mu        sync.Mutex
	high      map[partitionKey]int64
	next      map[partitionKey]int64
	facts     int64
	verdicts  map[events.Verdict]int64
	parked    int64
	batches   int64
	lastFact  time.Time // when the log took the newest fact applied
	lastBatch int
	caches    caches
	ends      Position // of the log, as far as it was described
	indexing  bool
}

// caches are the sizes of what is in memory after a batch.
type caches struct{ streams, streamBytes, rows, rowBytes int }

func (p *Projector) caches() caches {
	c := caches{streams: p.streams.Len(), streamBytes: p.cached}
	for _, projection := range p.Projections {
		if cache, ok := projection.(Cache); ok {
			rows, bytes := cache.Cached()
			c.rows, c.rowBytes = c.rows+rows, c.rowBytes+bytes
		}
	}
	return c
}

// Report is a snapshot of Stats.
type Report struct {
	Records    int64                    // judged since offset 0, in the shards of this process
	LagRecords int64                    // records in these shards that are not judged
	Facts      int64                    // applied since the start
	Verdicts   map[events.Verdict]int64 // since the start
	Parked     int64                    // since the start
	Batches    int64
	LastBatch  int       // records in the last batch
	LastFact   time.Time // when the log took the newest fact applied
	Streams    int       // whose states are in memory
	Cached     int       // bytes of their ids and encoded states
	Rows       int       // of projections, in memory
	RowBytes   int       // about how many bytes they have
	Indexing   bool      // a rebuild has caught up and is making indexes
}

// reset forgets the partitions of an earlier session.
func (s *Stats) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ensure()
	s.high, s.next = map[partitionKey]int64{}, map[partitionKey]int64{}
	maps.Copy(s.high, s.ends)
}

func (s *Stats) begin(at *partitionState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ensure()
	s.next[partitionKey{at.family, at.partition}] = at.next
}

func (s *Stats) saw(at *partitionState, high int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ensure()
	s.high[partitionKey{at.family, at.partition}] = high
}

// expect notes where the log ends, before its partitions are read.
func (s *Stats) expect(ends Position) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ends = ends
}

// indexes notes whether indexes are being made.
func (s *Stats) indexes(now bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.indexing = now
}

func (s *Stats) applied(b *prepared) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ensure()
	s.batches++
	s.lastBatch = countRecords(b.batch)
	s.caches = b.caches
	s.facts += int64(len(b.facts))
	for i := range b.facts {
		if b.facts[i].RecordedAt.After(s.lastFact) {
			s.lastFact = b.facts[i].RecordedAt
		}
	}
	for at, to := range b.next {
		s.next[partitionKey{at.family, at.partition}] = to.next
	}
	for _, part := range b.batch {
		for i := range part.items {
			it := &part.items[i]
			s.verdicts[it.verdict]++
			if it.verdict == events.Accepted && it.parkReason != "" {
				s.parked++
			}
		}
	}
}

func countRecords(batch []chunk) (n int) {
	for _, part := range batch {
		n += len(part.items)
	}
	return n
}

func (s *Stats) ensure() {
	if s.high == nil {
		s.high, s.next = map[partitionKey]int64{}, map[partitionKey]int64{}
		s.verdicts = map[events.Verdict]int64{}
	}
}

// Report returns a snapshot of the counters.
func (p *Projector) Report() Report {
	s := &p.stats
	s.mu.Lock()
	defer s.mu.Unlock()
	r := Report{Facts: s.facts, Parked: s.parked, Batches: s.batches, LastBatch: s.lastBatch,
		LastFact: s.lastFact, Streams: s.caches.streams, Cached: s.caches.streamBytes, Rows: s.caches.rows, RowBytes: s.caches.rowBytes, Indexing: s.indexing, Verdicts: maps.Clone(s.verdicts)}
	for _, next := range s.next {
		r.Records += next
	}
	for key, high := range s.high {
		r.LagRecords += max(0, high-s.next[key])
	}
	return r
}

func (s *Stats) at(key partitionKey) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.next[key]
}

// position is what has been judged and committed.
func (s *Stats) position() Position {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(Position(s.next))
}
