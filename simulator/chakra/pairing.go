package chakra

import (
	"cmp"
	"maps"
	"slices"

	"netsim/simulator/splitmix"
)

// channel is what sends and receives are matched by: the k-th send on a channel
// belongs to its k-th receive.
type channel struct{ from, to, tag int64 }

// pairing tells whether every send has its receive, however many there are. A
// first reading adds each send to one of many sums, and takes each receive off
// it; where a sum is not zero, a second reading looks at the channels behind it.
//
// A sum has the number of messages, and numbers drawn from their channels and
// sizes. Faults cancel each other only if those draws collide, which 64 bits make
// as good as impossible unless someone looks for it. Who does has a simulation
// that waits until its time is over.
type pairing struct {
	sums [1 << 14]sum
}

type sum struct{ messages, drawn uint64 }

func (c channel) draw() uint64 {
	return mix(mix(mix(uint64(c.from))^uint64(c.to)) ^ uint64(c.tag))
}

// mix spreads a number's bits over 64 of them, those of 0 too.
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

// uneven lists the sums that are not zero, at most a few hundred.
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

// ends is what the two ranks of a channel do on it.
type ends struct {
	sends, receives       Traffic
	sizes                 uint64 // of sends less those of receives, drawn
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
