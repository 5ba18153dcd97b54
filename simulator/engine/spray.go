package engine

import (
	"math"
	"math/bits"
)

// What sprayed packets meet in a stage, the parallel links that they are spread
// over. Rates of flows alone say that a stage carries all that it can and that
// its links are equally busy; packets take from both.

// A sender's window is a third more than its NIC sends in a round trip, and the
// queue of a port holds twice what the port does: the form of the receiver-driven
// transports that the reference simulates, independent of rates and distances.
const (
	windowNum, windowDen = 4, 3
	queueTrips           = 2
)

// stage is what the solver knows of a resource that is sprayed over.
type stage struct {
	offered int64 // bit/s that hosts would send through it
	flying  int64 // bits that their windows let be on their way
	trip    int64 // ps, the longest round trip without queues
	sent    load  // by the flows, all of them
	control int64 // bytes that trimming one packet of each costs, by packets
	acks    int64 // bytes of acknowledgements
	uneven  int64 // variance of the packets of a link, times the links squared
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
		p := &e.options.NICs[f.form].Packet
		path := e.path(id)[:f.steps]
		first, last := &e.resources[path[0].resource], &e.resources[path[len(path)-1].resource]
		offer := min(first.rate/int64(first.open), last.rate/int64(last.open))
		window := mulDiv(uint64(first.rate), uint64(f.trip), picoseconds) / windowDen * windowNum
		flying := min(int64(min(window, math.MaxInt64)), f.left.bits()/2) // the mean over what is left of its life
		for _, u := range path[1 : len(path)-1] {
			r, g := &e.resources[u.resource], &s.stages[u.resource]
			g.offered += offer
			g.flying += flying
			g.trip = max(g.trip, f.trip)
			g.sent.add(f.wire)
			g.control += f.wire.packets * (p.Header + 2*p.Ack)
			g.acks += f.wire.packets * p.Ack
			g.uneven += uneven(f.wire.packets, r.links())
		}
	}
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

// links is how many the resource has, when it is sprayed over.
func (r *resource) links() int64 { return r.rate / r.hopRate }

// trim takes from overloaded stages what their own overload costs. Transports
// that spray let switches cut packets down to headers instead of dropping them
// (NDP, Ultra Ethernet), and send them again when the receiver pulls.
//
// For each packet that a stage carries it trims t. Each of these costs a header
// there and, for the other direction has as many, a negative acknowledgement and
// a pull. There are two bounds. Hosts offer k times the stage's rate at the
// most; as the stage carries fewer packets for the control between them, that
// is t = (k-1)/(1-k·h), h being the control of one by the size of a packet. And
// what windows let be on its way, less what is on the links and in the queues,
// is trimmed once a round trip. So short flows fit into the queues and cost
// nothing.
func (e *engine) trim() {
	const one = 1 << 16 // fixed point
	s := &e.solver
	for _, h := range s.links {
		r, g := &e.resources[h], &s.stages[h]
		carried := mulDiv(uint64(r.rate), uint64(g.trip), picoseconds) // in a round trip
		if g.offered <= r.rate || carried == 0 {
			continue
		}
		packet, control, ack := uint64(g.sent.bits/8), uint64(g.control), uint64(g.acks) // of as many
		trips := mulDiv(uint64(g.flying), one, carried)
		if trips <= (1+queueTrips)*one {
			continue
		}
		k := min(mulDiv(uint64(g.offered), one, uint64(r.rate)), 1<<32)
		pulled := (k - one) * one / (one - min(mulDiv(k, control, packet), one/2))
		t := min(pulled, trips-(1+queueTrips)*one)
		// Receivers that are kept busy pull beside acknowledging.
		cost := mulDiv(t, control, one) + mulDiv(min(t, one), ack, one)
		r.left = int64(mulDiv(uint64(r.rate), packet, packet+cost))
		g.uneven = 0 // what is trimmed takes another link
	}
}

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
			queue = min(queue, mulDiv(spread/64, uint64(max(r.rate-r.left, 0)), uint64(r.left))/uint64(m)/uint64(g.sent.packets))
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
