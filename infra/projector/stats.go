package projector

import (
	"maps"
	"sync"
	"time"

	"netsim/events"
)

// Stats is how a projector is doing.
type Stats struct {
	mu        sync.Mutex
	high      map[partitionKey]int64
	next      map[partitionKey]int64
	facts     int64
	rejected  map[events.Verdict]int64
	parked    int64
	batches   int64
	lastFact  time.Time // when the log took the newest fact applied
	lastBatch int
}

// Report is a moment of Stats.
type Report struct {
	Records    int64 // judged, of the whole log
	LagRecords int64 // records in the log that are not judged
	Facts      int64 // applied since the start
	Rejected   map[events.Verdict]int64
	Parked     int64 // since the start
	Batches    int64
	LastBatch  int       // records in the last batch
	LastFact   time.Time // when the log took the newest fact applied
}

func (s *Stats) begin(at *place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ensure()
	s.next[partitionKey{at.family, at.partition}] = at.next
}

func (s *Stats) saw(at *place, high int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ensure()
	s.high[partitionKey{at.family, at.partition}] = high
}

func (s *Stats) applied(batch []chunk, facts []events.Fact) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ensure()
	s.batches++
	s.lastBatch = 0
	s.facts += int64(len(facts))
	for i := range facts {
		if facts[i].RecordedAt.After(s.lastFact) {
			s.lastFact = facts[i].RecordedAt
		}
	}
	for _, part := range batch {
		s.lastBatch += len(part.items)
		s.next[partitionKey{part.at.family, part.at.partition}] = part.at.next
		for i := range part.items {
			switch it := &part.items[i]; {
			case it.verdict != events.Accepted:
				s.rejected[it.verdict]++
			case it.poison != "":
				s.parked++
			}
		}
	}
}

func (s *Stats) ensure() {
	if s.high == nil {
		s.high, s.next = map[partitionKey]int64{}, map[partitionKey]int64{}
		s.rejected = map[events.Verdict]int64{}
	}
}

// Report tells how the projector is doing.
func (p *Projector) Report() Report {
	s := &p.stats
	s.mu.Lock()
	defer s.mu.Unlock()
	r := Report{Facts: s.facts, Parked: s.parked, Batches: s.batches, LastBatch: s.lastBatch,
		LastFact: s.lastFact, Rejected: map[events.Verdict]int64{}}
	for verdict, n := range s.rejected {
		r.Rejected[verdict] = n
	}
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

// position is what has been judged.
func (s *Stats) position() Position {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(Position(s.next))
}
