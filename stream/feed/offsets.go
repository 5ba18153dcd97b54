package feed

import (
	"slices"

	"netsim/events"
)

// Offsets is a position by partition: for each family, by partition, the first offset
// that was not sent, or -1 for a partition that the feed does not read. Other than an
// encoded position it can be carried to a feed with another query: partitions that it
// does not have begin with their next fact.
type Offsets map[events.Family][]int64

// of returns the offset of a partition.
func (o Offsets) of(at part) (int64, bool) {
	all := o[at.family]
	if int(at.partition) >= len(all) || all[at.partition] < 0 {
		return 0, false
	}
	return all[at.partition], true
}

func offsetsOf(parts []part, offsets []int64) Offsets {
	all := Offsets{}
	for i, at := range parts {
		if more := int(at.partition) + 1 - len(all[at.family]); more > 0 {
			all[at.family] = append(all[at.family], slices.Repeat([]int64{-1}, more)...)
		}
		all[at.family][at.partition] = offsets[i]
	}
	return all
}
