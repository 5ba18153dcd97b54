package engine

import "fmt"

// ScaleUp describes the fabrics inside groups of ranks, separate from the network. Ranks
// of one domain send to each other over its switches: one hop and two cables between
// ranks of one subgroup, three hops and four cables otherwise. Each rank has one
// port, whose rate its messages share max-min fairly in each direction. A message
// takes the time to send its packets at its rate, plus the latency of its path.
// There are no acknowledgements, and switches cut through (completions.md 6.5).
type ScaleUp struct {
	Domains []Domain
	Seats   []Seat // by rank
	Packet  Packet // its Ack is not used
}

// Domain is the scale-up fabric of a group.
type Domain struct {
	ID        uint32 // as in the mapping file
	Rate      int64  // of each rank's port, bit/s each way
	SwitchHop int64  // ps
	Cable     int64  // ps
}

// Seat is the position of a rank in a domain.
type Seat struct {
	Domain   int32 // index in ScaleUp.Domains, or -1 for none
	Subgroup uint32
}

// scaleUp is the engine's state of ScaleUp.
type scaleUp struct {
	*ScaleUp
	first int32 // rank 0's outgoing port as a resource; its incoming port follows, then rank 1's
}

// maxLatency bounds each latency of a domain, so that sums of times do not overflow.
const maxLatency = never / 8

func (e *engine) addScaleUp(in *ScaleUp) error {
	if in == nil || len(in.Domains) == 0 {
		return nil
	}
	if len(in.Seats) != len(e.ranks) {
		return fmt.Errorf("scale-up groups have %d seats for %d ranks", len(in.Seats), len(e.ranks))
	}
	if err := in.Packet.check(); err != nil {
		return err
	}
	e.scaleUp = scaleUp{ScaleUp: in, first: int32(len(e.resources))}
	for _, s := range in.Seats {
		rate := int64(1)
		if s.Domain != none {
			d := &in.Domains[s.Domain]
			switch {
			case d.Rate < 1:
				return fmt.Errorf("scale-up group %d: the bandwidth must be at least 1 bit/s, got %d", d.ID, d.Rate)
			case d.SwitchHop > maxLatency:
				return fmt.Errorf("scale-up group %d: a switch hop of %d ps is longer than any run", d.ID, d.SwitchHop)
			case d.Cable > maxLatency:
				return fmt.Errorf("scale-up group %d: a cable of %d ps is longer than any run", d.ID, d.Cable)
			}
			rate = d.Rate
		}
		e.addResource(rate, hopping{rate: rate})
		e.addResource(rate, hopping{rate: rate})
	}
	return nil
}

// domain returns the domain that both ranks are in, or nil.
func (e *engine) domain(from, to int32) *Domain {
	s := &e.scaleUp
	if s.ScaleUp == nil || s.Seats[from].Domain == none || s.Seats[from].Domain != s.Seats[to].Domain {
		return nil
	}
	return &s.Domains[s.Seats[from].Domain]
}

// findInside fills in the route of a message inside a domain.
func (e *engine) findInside(r *route, d *Domain, from, to int32, bytes int64) {
	s := &e.scaleUp
	hops, cables := int64(1), int64(2)
	if s.Seats[from].Subgroup != s.Seats[to].Subgroup {
		hops, cables = 3, 4
	}
	packets := packetsOf(bytes, s.Packet.MSS)
	*r = route{to: to, hops: 2, steps: 2, limit: s.first + 2*from}
	r.path[0], r.path[1] = s.first+2*from, s.first+2*to+1
	wire := load{8 * (bytes + packets*s.Packet.Header), packets}
	inside := shape{
		bytes: bytes, wire: wire, form: none, solo: workOf(wire.bits).duration(d.Rate), trip: hops*d.SwitchHop + cables*d.Cable,
	}
	if e.options.Analytical {
		inside.solo, inside.trip = 1000*((inside.solo+inside.trip)/1000+1), 0
	}
	e.setShape(r, inside)
}
