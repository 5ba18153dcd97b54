package engine

import "slices"

// flowlets records when the last message of each pair ended. As in a switch, the
// table has a bounded size: if another pair takes a pair's entry, the pair starts
// again on its first path.
type flowlets struct {
	gaps    []int64 // ps, the distinct gaps of all switches
	entries []flowlet
	turns   []uint32 // by entry and gap: how often the pair was idle that long
}

type flowlet struct {
	from, to int32 // ranks
	ended    int64 // ps, of the last message
	open     int32 // messages in flight
	used     bool
}

// maxFlowlets bounds the table, some 50 MB.
const maxFlowlets = 1 << 20

// class returns the number of the gap, from 1. After 127 gaps, further ones count as the
// first.
func (t *flowlets) class(gap int64) int8 {
	at := slices.Index(t.gaps, gap)
	if at < 0 && len(t.gaps) < 127 {
		at = len(t.gaps)
		t.gaps = append(t.gaps, gap)
	}
	return int8(max(at, 0) + 1)
}

// allocate makes the table, with room for the pairs of a number of ranks.
func (t *flowlets) allocate(ranks int) {
	if len(t.gaps) == 0 {
		return
	}
	size := 64
	for size < maxFlowlets && size < 2*ranks*ranks {
		size *= 2
	}
	t.entries, t.turns = make([]flowlet, size), make([]uint32, size*len(t.gaps))
}

// entry returns the index of the pair's entry.
func (t *flowlets) entry(from, to int32) int {
	key := (uint64(uint32(from))<<32 | uint64(uint32(to))) * 0x9e3779b97f4a7c15
	return int(key >> 32 & uint64(len(t.entries)-1))
}

// begin records that a message of the pair starts now. It returns the pair's turns,
// and whether they may differ from those of its last message.
func (t *flowlets) begin(from, to int32, now int64) (turns []uint32, changed bool) {
	at := t.entry(from, to)
	n := len(t.gaps)
	f := &t.entries[at]
	turns = t.turns[at*n : at*n+n]
	if !f.used || f.from != from || f.to != to {
		changed = f.used
		clear(turns)
		*f = flowlet{from: from, to: to, open: 1, used: true}
		return turns, changed
	}
	if f.open == 0 {
		for i, gap := range t.gaps {
			if now-f.ended >= gap {
				turns[i]++
				changed = true
			}
		}
	}
	f.open++
	return turns, changed
}

// end records that a message of the pair ends now.
func (t *flowlets) end(from, to int32, now int64) {
	if f := &t.entries[t.entry(from, to)]; f.from == from && f.to == to && f.open > 0 {
		f.open--
		f.ended = now
	}
}
