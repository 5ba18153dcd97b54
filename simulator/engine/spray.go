package engine

import (
	"math/bits"
)

// What packets meet in a stage: the parallel links that they are spread over, or
// one link where flows are hashed. Rates of flows alone say that a stage carries all that it can and that
// its links are equally busy; packets take from both.

// The transport is the reference's receiver-driven one: a sender's window is 7/6
// of what its NIC sends in a round trip, and a port's queue holds 5/4 of what the
// port does.
const (
	windowNum, windowDen = 7, 6
	queueNum, queueDen   = 5, 4
	queuePackets         = 60 // that a port holds at least
	// maxWindow bounds windows, in bits, so that sums of all flows' fit.
	maxWindow = 1 << 34
)

// one is 1 in the fixed-point numbers of this file.
const one = 1 << 16

// stage is what the solver knows of a resource that is sprayed over.
type stage struct {
	offered int64 // bit/s that hosts would send through it
	flying  int64 // bits that their windows let be on their way now
	rest    int64 // bits that they have left, of each at most some windows
	trims   bool
	weights int64 // where it trims, of the flows without a rate yet
	trip    int64 // ps, the longest round trip without queues
	sent    load  // by the flows, all of them
	control int64 // bytes that trimming one packet of each costs, by packets
	acks    int64 // bytes of acknowledgements
	uneven  int64 // variance of the packets of a link, times the links squared
	bunched int64 // variance by packet, times the links, of all packets
	wait    int64 // ps that the last packets queue
}

// survey adds up what the enlisted flows bring to the stages between their NICs.
func (e *engine) survey() {
	s := &e.solver
	if s.stages == nil {
		s.stages = make([]stage, len(e.resources))
	}
	for _, h := range s.links {
		s.stages[h] = stage{}
	}
	for _, id := range s.flows {
		f := &e.flows[id]
		if f.steps < 3 {
			continue
		}
		for _, u := range e.path(id)[1 : f.steps-1] {
			g := &s.stages[u.resource]
			e.add(g, id)
			m := e.resources[u.resource].links()
			g.uneven += uneven(f.wire.packets, m)
			g.bunched += bunched(f.wire.packets, m)
		}
	}
}

// add counts what a flow brings to a stage.
func (e *engine) add(g *stage, id int32) {
	f := &e.flows[id]
	p := &e.options.NICs[f.form].Packet
	path := e.path(id)
	first, last := &e.resources[path[0].resource], &e.resources[path[f.steps-1].resource]
	window, left := e.window(id), e.left(f)
	g.offered += min(first.rate/int64(len(first.flows)), last.rate/int64(len(last.flows)))
	g.flying += min(window, left)
	g.rest += min(64*window, left)
	g.trip = max(g.trip, f.trip)
	g.sent.add(f.wire)
	g.control += f.wire.packets * (p.Header + 2*p.Ack)
	g.acks += f.wire.packets * p.Ack
}

// window is what the flow may have on its way, in bits.
func (e *engine) window(id int32) int64 {
	nic := &e.resources[e.hops[int(id)*e.stride].resource]
	return int64(min(mulDiv(uint64(nic.rate), uint64(e.flows[id].trip), picoseconds)/windowDen*windowNum, maxWindow))
}

// surveyLinks is survey where flows are hashed: of the links between NICs on which
// more is on its way than the least that is trimmed.
func (e *engine) surveyLinks() {
	s := &e.solver
	if s.stages == nil {
		s.stages = make([]stage, len(e.resources))
	}
	for _, h := range s.links {
		s.stages[h] = stage{}
		if r := &e.resources[h]; len(r.flows) > 1 && e.crowded(h) {
			for _, ref := range r.flows {
				e.add(&s.stages[h], ref>>hopBits)
			}
		}
	}
}

// crowded reports whether so much is on its way over the link that it may trim.
func (e *engine) crowded(h int32) bool {
	r := &e.resources[h]
	var flying, trip int64
	for _, ref := range r.flows {
		f := &e.flows[ref>>hopBits]
		if at := int32(ref & (1<<hopBits - 1)); at == 0 || at >= f.steps-1 {
			return false
		}
		flying += min(e.window(ref>>hopBits), e.left(f))
		trip = max(trip, f.trip)
	}
	return uint64(flying) > mulDiv(uint64(r.rate), uint64(trip), picoseconds)/queueDen*(queueDen+queueNum-1)
}

// left is what the flow has left now, in bits.
func (e *engine) left(f *flow) int64 {
	if f.rate > 0 && f.since < e.now {
		return f.left.after(f.rate, e.now-f.since).bits()
	}
	return f.left.bits()
}

// uneven is the variance of the packets that a flow puts on a link, times the
// links squared: of its last round, or if that is more of a round that it is in
// the middle of, wherever that may be.
func uneven(packets, links int64) int64 {
	rest := packets % links
	last := rest * (links - rest)
	if packets < links {
		return last
	}
	return max(last, (links*links-1)/6)
}

// bunched is the variance by packet with which packets come to a link over short
// times, times the links and the packets: a flow's packets of a round are on all
// links but one after the other in any order, half as uneven as if each took any
// link.
func bunched(packets, links int64) int64 {
	if packets < links {
		return packets * (links - packets)
	}
	return packets * (links - 1) / 2
}

// links is how many the resource has, when it is sprayed over.
func (r *resource) links() int64 { return r.rate / r.hopRate }

// scatter works out how long the last packets of flows queue because spraying is
// even only in the mean. A flow goes round the links of a stage, and in the
// middle of a round is uneven: after r packets over m links, each link has got
// one with the probability r/m, a variance of r(m-r)/m². With V the variance of all flows, and
// L links of which the last one counts, the longest queue of links that are
// always busy is √(V·ln L/2) packets, that of a Brownian bridge; of links that
// are busy for a part ρ, with v the variance by packet, ρ·v·ln L/2(1-ρ), that of
// heavy traffic. The smaller one is taken.
func (e *engine) scatter() {
	s := &e.solver
	var links int64
	for _, h := range s.links {
		if s.stages[h].sent.packets > 0 {
			links += e.resources[h].links()
		}
	}
	// ln L/2, in 1024ths.
	const halfLn2 = 355
	for _, h := range s.links {
		r, g := &e.resources[h], &s.stages[h]
		if g.uneven == 0 {
			continue
		}
		m := r.links()
		spread := uint64(min(g.uneven, 1<<40)) * uint64(bits.Len64(uint64(links))) * halfLn2
		queue := root(spread/4) / uint64(m) // in sixteenths of a packet
		if r.left > 0 {
			near := uint64(min(g.bunched, 1<<40)) * uint64(bits.Len64(uint64(links))) * halfLn2 / 64
			queue = min(queue, mulDiv(near, uint64(max(r.rate-r.left, 0)), uint64(r.left))/uint64(m)/uint64(g.sent.packets))
		}
		size := workOf(g.sent.bits / g.sent.packets) // the mean
		g.wait = int64(mulDiv(queue, uint64(size.duration(r.hopRate)), 16))
	}
	for _, id := range s.flows {
		f := &e.flows[id]
		if f.queued {
			continue // it ends as it was told
		}
		f.tail = f.trip
		for _, u := range e.path(id)[:f.steps] {
			f.tail += s.stages[u.resource].wait
		}
	}
}

// root is the square root, rounded down.
func root(n uint64) uint64 {
	if n < 2 {
		return n
	}
	x := uint64(1) << ((bits.Len64(n) + 1) / 2)
	for {
		y := (x + n/x) / 2
		if y >= x {
			return x
		}
		x = y
	}
}
