package chakra

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// Traffic counts communications.
type Traffic struct {
	Count int64
	Bytes uint64 // 2^64-1 if the sum is larger
}

func (t *Traffic) add(bytes uint64) {
	t.Count++
	t.Bytes = plus(t.Bytes, bytes)
}

// plus returns the sum, or 2^64-1 if the sum is larger.
func plus(a, b uint64) uint64 {
	sum, carry := bits.Add64(a, b, 0)
	if carry != 0 {
		return math.MaxUint64
	}
	return sum
}

// CollectiveTraffic counts a rank's collectives of one kind in one group.
type CollectiveTraffic struct {
	Group string // process group; empty for all ranks
	Kind  Collective
	First uint64 // the first node's id

	Traffic
}

// Trace sums up the file of one rank.
type Trace struct {
	File     string
	Rank     int
	Format   string
	Metadata Metadata

	Nodes         int64
	Compute       uint64 // µs
	Sends         Traffic
	Receives      Traffic
	Collectives   []CollectiveTraffic // by group, then kind
	Data, Control int64               // dependencies
}

const maxGroups = 1 << 16 // pairs of process group and kind of collective of one rank

type collectiveKey struct {
	group string
	kind  Collective
}

// tally sums up a Trace while its nodes are streamed.
type tally struct {
	trace        *Trace
	collectives  map[collectiveKey]*CollectiveTraffic
	unsized      Traffic // communications without comm_size
	firstUnsized uint64  // id of the first of them
}

func (t *tally) take(n *Node) error {
	t.trace.Nodes++
	t.trace.Data += int64(len(n.Data))
	t.trace.Control += int64(len(n.Control))
	role := n.Role()
	switch role {
	case Compute:
		t.trace.Compute = plus(t.trace.Compute, n.Duration)
	case Send:
		t.trace.Sends.add(n.Size)
	case Receive:
		t.trace.Receives.add(n.Size)
	case Collect:
		key := collectiveKey{n.Group, n.Collective}
		c := t.collectives[key]
		if c == nil {
			if len(t.collectives) == maxGroups {
				return refuse("there are more than %d process groups", maxGroups)
			}
			c = &CollectiveTraffic{Group: n.Group, Kind: n.Collective, First: n.ID}
			t.collectives[key] = c
		}
		c.add(n.Size)
	}
	if n.Size == 0 && (role == Send || role == Receive || role == Collect && n.Collective != Barrier) {
		if t.unsized.Count == 0 {
			t.firstUnsized = n.ID
		}
		t.unsized.add(0)
	}
	return nil
}

// finish lists the collectives in the Trace.
func (t *tally) finish() {
	for _, c := range t.collectives {
		t.trace.Collectives = append(t.trace.Collectives, *c)
	}
	slices.SortFunc(t.trace.Collectives, func(a, b CollectiveTraffic) int {
		return compareKeys(collectiveKey{a.Group, a.Kind}, collectiveKey{b.Group, b.Kind})
	})
}

func compareKeys(a, b collectiveKey) int {
	return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.kind, b.kind))
}
