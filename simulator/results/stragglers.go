package results

import (
	"cmp"
	"fmt"
	"slices"

	"netsim/simulator/engine"
	"netsim/simulator/snapshot"
)

// computing is how long a rank computed.
type computing struct {
	rank int32
	time int64 // ps
}

// computed keeps the time of a rank that has computed.
func (r *Recorder) computed(k *engine.Rank) {
	if k.Computations > 0 {
		r.computing = append(r.computing, computing{k.Rank, k.ComputeTime})
	}
}

func (k *computing) visit(c *snapshot.Codec) {
	snapshot.Int(c, &k.rank)
	snapshot.Int(c, &k.time)
}

// stragglers are the ranks that computed longer than others: at least 1.1 times the median of
// the ranks that computed.
type stragglers struct {
	Median millionths  `json:"medianComputeTimeUs"`
	Count  int         `json:"count"`
	Ranks  []straggler `json:"ranks"` // the slowest, at most ten
}

type straggler struct {
	Rank    int32      `json:"rank"`
	Compute millionths `json:"computeTimeUs"`
	Ratio   millionths `json:"medianRatio"` // its time over the median
}

// stragglers returns the stragglers, nil for none.
func (r *Recorder) stragglers() *stragglers {
	if len(r.computing) < 2 {
		return nil
	}
	ranks := slices.SortedFunc(slices.Values(r.computing), func(a, b computing) int {
		return cmp.Or(cmp.Compare(b.time, a.time), cmp.Compare(a.rank, b.rank))
	})
	median := ranks[len(ranks)/2].time
	s := stragglers{Median: millionths(median)}
	for _, k := range ranks {
		if median == 0 || k.time-median < (median+9)/10 {
			break
		}
		if s.Count++; s.Count <= maxCritical {
			s.Ranks = append(s.Ranks, straggler{k.rank, millionths(k.time), millionths(ratio(k.time, 1_000_000, median))})
		}
	}
	if s.Count == 0 {
		return nil
	}
	return &s
}

// read returns the stragglers as one sentence.
func (s *stragglers) read(path *criticalPath) string {
	first := s.Ranks[0]
	text := fmt.Sprintf("Rank %d computed for %s us, %s times as long as the median of the ranks", first.Rank, tenths(first.Compute), tenths(first.Ratio))
	if s.Count > 1 {
		text += fmt.Sprintf(", and %d others at least 1.1 times as long", s.Count-1)
	}
	if path != nil {
		for _, on := range path.Ranks {
			if on.Rank == int64(first.Rank) {
				text += fmt.Sprintf("; its computations are %s %% of the critical path", tenths(on.Percent))
			}
		}
	}
	return text + "."
}
