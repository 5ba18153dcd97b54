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
// A sum has the number of messages, and 64-bit hashes of their channels and sizes.
// Faults cancel only if these hashes collide, which does not happen by accident. The
// author of a trace can provoke it, and then has a simulation that waits until its
// time limit.
type pairing struct {
	sums [1 << 14]sum
}

type sum struct{ messages, drawn uint64 }

func (c channel) draw() uint64 {
	return mix(mix(mix(uint64(c.from))^uint64(c.to)) ^ uint64(c.tag))
}

// mix is a hash of a number, other than 0 for 0.
func mix(x uint64) uint64 { return splitmix.Next(&x) }

func (p *pairing) take(c channel, role Role, size uint64) {
	draw := c.draw()
	s := &p.sums[draw%uint64(len(p.sums))]
	sign := uint64(1)
	if role == Receive {
		sign = ^uint64(0)
	}
	s.messages += sign
	s.drawn += sign * mix(draw^mix(size))
}

// uneven returns the sums that are not zero, at most a few hundred.
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

// ends counts what the two ranks of a channel do.
type ends struct {
	sends, receives       Traffic
	sizes                 uint64 // hashes of the sends minus those of the receives
	lastSend, lastReceive uint64 // nodes
}

func (s suspects) take(c channel, role Role, n *Node) {
	if !s.sums[c.draw()%uint64(len(pairing{}.sums))] {
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
