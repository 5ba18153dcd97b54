package engine

import (
	"math/bits"
)

// This file models packets in a stage: the parallel links over which they are
// sprayed, or the one link of hashed flows. If only the rates of flows counted, a
// stage would carry as much as its links can, and all links would be equally busy.
// Trimmed packets reduce what it carries, and packets spread unevenly over its links.

// The transport is the receiver-driven one of the reference: a sender's window is
// 7/6 of what its NIC sends in a round trip, and a port's queue holds 5/4 of what the
// port sends in that time.
const (
	windowNum, windowDen = 7, 6
	queueNum, queueDen   = 5, 4
	queuePackets         = 60 // the smallest queue of a port
	// Receivers pull at 99 % of the rate of full packets. A packet that arrives
	// earlier than that needs a separate pull in addition to its acknowledgement: about
	// 3 of 8 packets on links that are always busy.
	pullsNum, pullsDen = 3, 8
	// maxWindow bounds windows, in bits, so that the sum over all flows fits.
	maxWindow = 1 << 34
)

// one is 1 in the fixed-point numbers of this file and of trim.go.
const one = 1 << 16

// stage has the solver's sums for one resource: a stage between switches, or the link of a
// NIC. Of NICs it has what they send, and how far away their nearest senders are.
type stage struct {
	offered                               int64 // bit/s that hosts would send through it
	flying                                int64 // bits that the windows of its flows allow in flight now
	rest                                  int64 // bits that its flows have left, at most 64 windows of each
	whole, opens, circling, full, fullest int64
	began                                 int64 // ps, when the first of its flows started
	headers                               int64 // bytes of the headers of its packets
	trims                                 bool
	resent                                int64 // packets that it trims for each one that it carries, times one
	weights                               int64 // of the flows without a rate yet, if it trims
	trip                                  int64 // ps, the longest round trip without queues
	sent                                  load  // by all of its flows
	control                               int64 // bytes of headers and control if each packet is trimmed once
	acks                                  int64 // bytes of acknowledgements
	uneven                                int64 // variance of the packets of a link, times the links squared
	bunched                               int64 // short-term variance, times the links and the packets
	wait                                  int64 // ps for which the last packets queue
	nearest                               int64 // ps, the shortest round trip of flows that end here
	early                                 int64 // bits that the flows with the shortest round trip have left
}

// survey adds the enlisted flows to the sums of their NICs and of the stages in between.
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
		k := e.shape(f)
		if k.form == none {
			continue
		}
		path := e.path(id)[:k.steps]
		s.stages[path[0].resource].carry(k.wire, e.options.NICs[k.form].Packet.Ack)
		s.stages[path[len(path)-1].resource].deliver(k.trip, e.left(f))
		for _, u := range path[1 : len(path)-1] {
			g := &s.stages[u.resource]
			e.add(g, id)
			m := e.linksOf(u.resource)
			g.uneven += uneven(k.wire.packets, m)
			g.bunched += bunched(k.wire.packets, m)
		}
	}
}

// carry adds what a flow sends.
func (g *stage) carry(wire load, ack int64) {
	g.sent.add(wire)
	g.acks += wire.packets * ack
}

// deliver adds what a flow has left to the sums of its receiver's NIC.
func (g *stage) deliver(trip, left int64) {
	if g.nearest == 0 || trip < g.nearest {
		g.nearest, g.early = trip, 0
	}
	if trip == g.nearest {
		g.early += left
	}
}

// pull subtracts the cost of separate pulls from the links that hosts send through.
func (e *engine) pull() {
	s := &e.solver
	for _, h := range s.links {
		if r, g := &e.resources[h], &s.stages[h]; g.sent.bits > 0 {
			bits := uint64(g.sent.bits)
			r.left = max(int64(mulDiv(uint64(r.rate), bits, bits+8*uint64(g.acks)*pullsNum/pullsDen))-r.fixed, 0)
		}
	}
}

// add adds a flow to the sums of a stage.
func (e *engine) add(g *stage, id int32) {
	f := &e.flows[id]
	s := e.shape(f)
	p := &e.options.NICs[s.form].Packet
	path := e.path(id)
	first, last := &e.resources[path[0].resource], &e.resources[path[s.steps-1].resource]
	window, left := s.window, e.left(f)
	g.offered += min(first.rate/int64(len(first.flows)), last.rate/int64(len(last.flows)))
	g.flying += min(window, left)
	g.rest += min(64*window, left)
	g.whole += min(64*window, left)
	open := min(int64(mulDiv(uint64(window), uint64(s.wire.bits), uint64(s.wire.bits-8*s.wire.packets*p.Ack))), left)
	if e.now-f.start >= s.trip {
		g.circling += open
	} else {
		g.opens += open
	}
	g.full += s.wire.packets * p.MSS
	g.fullest += s.wire.packets * (p.MSS + p.Header)
	if g.sent.bits == 0 || f.start < g.began {
		g.began = f.start
	}
	g.headers += s.wire.packets * p.Header
	g.trip = max(g.trip, s.trip)
	g.carry(s.wire, p.Ack)
	g.control += s.wire.packets * (p.Header + 2*p.Ack)
}

// left returns what the flow has left to send now, in bits.
func (e *engine) left(f *flow) int64 {
	if f.rate > 0 && f.since < e.now {
		return f.left.after(f.rate, e.now-f.since).bits()
	}
	return f.left.bits()
}

// uneven returns the largest variance of the packets that a flow puts on a link,
// times the links squared: the variance in the middle of a round.
func uneven(packets, links int64) int64 {
	r := min(packets, links/2)
	return r * (links - r)
}

// bunched returns the variance per packet of the packets that arrive at a link in a
// short time, times the links and the packets. In a round a flow's packets use all
// links, in random order; this is half as uneven as if each packet took a random
// link.
func bunched(packets, links int64) int64 {
	if packets < links {
		return packets * (links - packets)
	}
	return packets * (links - 1) / 2
}

// linksOf returns how many links a sprayed resource has, counted at its slowest link's rate.
func (e *engine) linksOf(h int32) int64 { return e.resources[h].rate / e.hoppings[h].rate }

// scatter computes how long the last packets of flows queue, because spraying is even
// only on average. A flow uses the m links of a stage in rounds and is uneven within
// a round: after r packets, each link has received one with probability r/m, which is
// a variance of r(m-r)/m².
//
// Let V be the variance of all flows. The longest queue of m links that are always
// busy is √(2V·ln m) packets. Let v be the variance for each packet, ρ the part of the
// time for which links are busy, and L the number of links of all uneven stages, since
// the longest of their queues counts. By the heavy-traffic formula the queue is then
// ρ·v·ln L/2(1-ρ). The smaller of the two is used; a stage that trims or is full has the
// first. Consecutive stages are uneven independently, so their variances add up.
func (e *engine) scatter() {
	s := &e.solver
	var links int64
	for _, h := range s.links {
		if s.stages[h].uneven > 0 {
			links += e.linksOf(h)
		}
	}
	const halfLn2 = 355 // (ln 2)/2 in 1024ths
	for _, h := range s.links {
		r, g := &e.resources[h], &s.stages[h]
		if g.uneven == 0 {
			continue
		}
		m := e.linksOf(h)
		quarters := uint64(bits.Len64(uint64(m*m*m*m)) - 1)                        // of the logarithm of m
		queue := root(uint64(min(g.uneven, 1<<40))*quarters*halfLn2/4) / uint64(m) // in sixteenths of a packet
		if !g.trims && r.left > 0 {
			near := uint64(min(g.bunched, 1<<40)) * uint64(bits.Len64(uint64(links))) * halfLn2 / 64
			queue = min(queue, mulDiv(near, uint64(max(r.rate-r.left, 0)), uint64(r.left))/uint64(m)/uint64(g.sent.packets))
		}
		size := workOf(g.sent.bits / g.sent.packets) // the mean
		g.wait = int64(mulDiv(queue, uint64(size.duration(e.hoppings[h].rate)), 16))
	}
	for _, id := range s.flows {
		f := &e.flows[id]
		if f.queued {
			continue // its acknowledgement is scheduled
		}
		var wait int64
		for _, u := range e.path(id)[:e.shape(f).steps] {
			wait = hypot(wait, s.stages[u.resource].wait)
		}
		f.tail = e.shape(f).trip + wait - e.ahead(id)
	}
}

// ahead returns how much earlier the last packets of a flow arrive if its receiver
// limits it. Packets of nearer senders arrive first, while the first packets of this
// flow are still on their way.
func (e *engine) ahead(id int32) int64 {
	f := &e.flows[id]
	s := e.shape(f)
	if s.form == none {
		return 0
	}
	h := e.path(id)[s.steps-1].resource
	if f.next != h {
		return 0
	}
	g := &e.solver.stages[h]
	return min((s.trip-g.nearest)/2, int64(min(mulDiv(uint64(g.early), picoseconds, uint64(e.resources[h].rate)), never)))
}

// hypot returns √(a²+b²).
func hypot(a, b int64) int64 {
	lo, hi := min(a, b), max(a, b)
	if lo == 0 {
		return hi
	}
	part := mulDiv(uint64(lo), one, uint64(hi))
	return int64(mulDiv(uint64(hi), root(one*one+part*part), one))
}

// root returns the square root, rounded down.
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
