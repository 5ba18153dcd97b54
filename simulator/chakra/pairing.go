package chakra

import (
	"cmp"
	"maps"
	"slices"

	"netsim/simulator/splitmix"
)

// channel identifies messages that are matched in order: the k-th send on a channel
// belongs to its k-th receive.
type channel struct{ from, to, tag int64 }

// pairing checks in constant memory whether every send has its receive. A first reading
// adds each send to one of many sums and subtracts each receive from it. If a sum is
// not zero, a second reading examines the channels of that sum.
//
// A sum counts messages and adds 64-bit hashes of their channels and sizes. Mismatches
// cancel out only if these hashes collide, which does not happen by accident. The author
// of a trace can provoke a collision; package replay then finds the mismatch.
type pairing struct {
	sums [1 << 14]sum
}

type sum struct{ messages, hashes uint64 }

func (c channel) hash() uint64 {
	return mix(mix(mix(uint64(c.from))^uint64(c.to)) ^ uint64(c.tag))
}

// mix hashes a number. mix(0) is not 0.
func mix(x uint64) uint64 { return splitmix.Next(&x) }

func (p *pairing) take(c channel, role Role, size uint64) {
	hash := c.hash()
	s := &p.sums[hash%uint64(len(p.sums))]
	sign := uint64(1)
	if role == Receive {
		sign = ^uint64(0)
	}
	s.messages += sign
	s.hashes += sign * mix(hash^mix(size))
}

// uneven returns the sums that are not zero, at most 256 of them.
func (p *pairing) uneven() suspects {
	const most = 256
	found := suspects{sums: map[uint64]bool{}, channels: map[channel]*ends{}}
	for i, s := range p.sums {
		if s != (sum{}) && len(found.sums) < most {
			found.sums[uint64(i)] = true
		}
	}
	return found
}

// suspects are the channels of uneven sums.
type suspects struct {
	sums     map[uint64]bool
	channels map[channel]*ends
}

// ends counts the sends and receives of a channel.
type ends struct {
	sends, receives       Traffic
	sizes                 uint64 // hashes of the sent sizes minus hashes of the received sizes
	lastSend, lastReceive uint64 // node ids
}

func (s suspects) take(c channel, role Role, n *Node) {
	if !s.sums[c.hash()%uint64(len(pairing{}.sums))] {
		return
	}
	e := s.channels[c]
	if e == nil {
		e = &ends{}
		s.channels[c] = e
	}
	if role == Send {
		e.sends.add(n.Size)
		e.sizes += mix(n.Size)
		e.lastSend = n.ID
	} else {
		e.receives.add(n.Size)
		e.sizes -= mix(n.Size)
		e.lastReceive = n.ID
	}
}

func (s suspects) sorted() []channel {
	return slices.SortedFunc(maps.Keys(s.channels), func(a, b channel) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to), cmp.Compare(a.tag, b.tag))
	})
}
