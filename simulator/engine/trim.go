package engine

import "math"

// maxSent bounds what a flow sends with what it sends again, in bit/s.
const maxSent = 1 << 50

// trim subtracts the cost of overload from what overloaded stages have left.
func (e *engine) trim() {
	s := &e.solver
	for _, h := range s.links {
		r := &e.resources[h]
		if rate := e.trimmedRate(h, &s.stages[h]); rate < r.rate {
			r.left = max(rate-r.fixed, 0)
		}
	}
}

// trimmedRate returns the rate of a stage in bit/s without the cost of overload. With
// receiver-driven transports (NDP, Ultra Ethernet) switches trim packets to headers
// instead of dropping them, and senders send them again when the receiver pulls.
//
// For each packet that it carries, a stage trims t packets. Each trimmed packet costs
// a header. The other direction trims as many, so the stage also carries a negative
// acknowledgement and a pull for each; sprayed traffic then needs one separate pull
// less (see pullsNum). Relative to the size of a packet, h is the cost of trimming one
// packet and a the cost of an acknowledgement. Two bounds apply, and t is their smooth
// minimum.
//
// Windows: let w be what windows allow in flight, relative to what the stage carries
// in a round trip. Of this, q is in queues, and the rest is delivered or trimmed once
// in a round trip. The stage also carries control, so (1+t)/(1+a+h·t) = w-q.
//
// Pulls: hosts send at most k times the rate of the stage, part of it control, so
// (1+t)/(1+a+h·t) = 24/25·k, where 24/25 is fitted.
//
// Windows empty as flows end. While w is below q+1/(1+a) nothing is trimmed, so t is
// averaged over what is left to carry. Short flows fit into the queues and cost
// nothing. The last windows are sent at once: their queue grows only by what the stage
// does not carry meanwhile, (1-rate/offered)·w.
//
// Trimming hardly shortens short packets, and then the bounds have no solution. In
// each round trip one of q+1 is delivered, so of the last windows a packet is trimmed
// w/(q+1)/2 times on average.
func (e *engine) trimmedRate(h int32, g *stage) int64 {
	r := &e.resources[h]
	carried := mulDiv(uint64(r.rate), uint64(g.trip), picoseconds) // in a round trip
	if g.offered <= r.rate || carried == 0 {
		return r.rate
	}
	packet := uint64(g.sent.bits / 8)
	header, pull := mulDiv(uint64(g.control), one, packet), mulDiv(uint64(g.acks), one, packet)
	answered := e.answered(h)
	header -= mulDiv(2*pull, one-answered, one)
	mean := uint64(g.sent.bits / g.sent.packets)
	queue := max(one*queueNum/queueDen, mulDiv(queuePackets*uint64(e.linksOf(h))*mean, one, carried))
	w := min(mulDiv(uint64(g.flying), one, carried), 1<<32)
	least := queue + one*one/(one+pull)
	last := g.rest == g.flying // all that is left is in flight
	if last {
		least = max(least, mulDiv(queue, uint64(g.offered), uint64(g.offered-r.rate)))
	}
	overflows := w > least-one/4
	if g.trims = overflows && e.weighted; w <= least { // bursts overflow queues a little earlier
		return r.rate
	}
	k := min(mulDiv(uint64(g.offered), one, uint64(r.rate)), 1<<32)
	k = mulDiv(k, one-pull, one-pull+mulDiv(2*pull, answered, one)) / 100 * 99
	t := smoothMin(trimmed(w-queue, header, pull), trimmed(k, header, pull))
	if last && header > one/2 {
		t = min(t, mulDiv(w, one/2, queue+one))
	}
	// The mean of t: constant until emptying windows are the bound, then falling to 0.
	binds := min(w, max(k+queue, least))
	falling := mulDiv(carried, binds-least, one)
	t = mulDiv(t, uint64(g.rest)-mulDiv(carried, binds, one)+falling/2, uint64(g.rest))
	own := max(one*pullsNum/pullsDen, t) - t // separate pulls
	cost := min(mulDiv(t, header, one)+mulDiv(own, pull, one), one)
	g.resent = int64(t)
	return int64(mulDiv(uint64(r.rate), one, one+cost))
}

// resend subtracts what a flow sends again from the links of its NICs, before the flow is
// frozen at the rate. A packet that a stage trims has used the sender's link, and its pull is
// one of those of the receiver, which pulls as many packets as its link carries. Senders send
// for all of their flows in turn, and receivers pull for theirs, so what a flow sends, with
// what it sends again, is not more than an equal part.
func (e *engine) resend(id int32, rate int64) {
	path := e.path(id)[:e.shape(&e.flows[id]).steps]
	if len(path) < 3 {
		return
	}
	sent := uint64(rate)
	for _, u := range path[1 : len(path)-1] {
		sent = min(sent+mulDiv(sent, uint64(e.solver.stages[u.resource].resent), one), maxSent)
	}
	for _, h := range [...]int32{path[0].resource, path[len(path)-1].resource} {
		g := &e.resources[h]
		g.left -= max(min(int64(sent), g.left/int64(g.open))-rate, 0)
	}
}

// answered returns which part of the nacks and pulls of a stage, as many as those of the packets
// that it trims itself, it carries for the packets that its other direction trims. On hashed
// links these follow paths of their own, so each link of a bundle carries the mean. A flow that
// is alone on a link is not trimmed.
func (e *engine) answered(h int32) uint64 {
	over := func(h int32) int64 { return max(int64(len(e.resources[h].flows))-e.linksOf(h), 0) }
	there, back, links := over(h), over(h^1), int64(1)
	if there == 0 {
		return one
	}
	if e.spreading == hashed {
		back, links = e.collisions(2*e.fabric.Links[h/2].Bundle+h&1^1), int64(len(e.fabric.Bundles[e.fabric.Links[h/2].Bundle].Links))
	}
	return min(mulDiv(uint64(back), one, uint64(there*links)), one)
}

// collisions returns how many flows of a directed bundle are not the first on their link.
func (e *engine) collisions(bundle int32) int64 {
	s := &e.solver
	if s.collisions == nil {
		s.collisions = make([]counted, 2*len(e.fabric.Bundles))
	}
	c := &s.collisions[bundle]
	if c.mark != s.epoch {
		*c = counted{mark: s.epoch}
		for _, id := range e.fabric.Bundles[bundle/2].Links {
			c.flows += max(int64(len(e.resources[2*id+bundle%2].flows))-1, 0)
		}
	}
	return c.flows
}

func pow8(x uint64) uint64 {
	for range 3 {
		x = x * x / one
	}
	return x
}

// trimmed solves (1+t)/(1+pull+header·t) = load for t, at most 64.
func trimmed(load, header, pull uint64) uint64 {
	const most = 64 * one
	sent, control := mulDiv(load, one+pull, one), mulDiv(load, header, one)
	if sent <= one {
		return 0
	}
	if control >= one {
		return most
	}
	return min(mulDiv(sent-one, one, one-control), most)
}

// smoothMin returns (a^-8 + b^-8)^(-1/8).
func smoothMin(a, b uint64) uint64 {
	lo, hi := min(a, b), max(a, b)
	if lo == 0 {
		return 0
	}
	power := one + pow8(mulDiv(lo, one, hi))
	for range 3 {
		power = root(power << 16)
	}
	return mulDiv(lo, one, power)
}

// weigh adds up the weights of the flows of stages that trim.
func (e *engine) weigh() {
	s := &e.solver
	for _, id := range s.flows {
		path := e.path(id)[:e.shape(&e.flows[id]).steps]
		for _, u := range path[1 : len(path)-1] {
			if g := &s.stages[u.resource]; g.trims {
				g.weights += e.weight(id)
			}
		}
	}
}

// weight returns the flow's weight in a stage that trims: what it has in flight, which
// is a whole window, or what is left to send if that is less. A stage trims all
// packets alike, so flows near their end get less, and the others catch up. Of n packets
// among many, the last is at n/(n+1) of the way: hence one packet more.
func (e *engine) weight(id int32) int64 {
	f := &e.flows[id]
	s := e.shape(f)
	return max(min(s.window, f.left.bits())+s.wire.bits/s.wire.packets, 1)
}

// apportion divides the rate of a stage that trims among its flows, by their weights.
// A flow that gets less elsewhere leaves the difference to the others.
func (e *engine) apportion(h int32) {
	s := &e.solver
	r, g := &e.resources[h], &s.stages[h]
	const rounds = 4
	for round := 1; round <= rounds && r.open > 0; round++ {
		left, weights := uint64(max(r.left, 0)), uint64(max(g.weights, 1))
		for _, ref := range r.flows {
			id := ref >> hopBits
			f := &e.flows[id]
			if f.mark != s.epoch || f.next != none {
				continue
			}
			share := int64(mulDiv(left, uint64(e.weight(id)), weights))
			if most := e.elsewhere(id, h); most < share || round == rounds {
				e.freeze(id, h, max(min(most, share), 1))
			}
		}
	}
}

// elsewhere returns what the flow's other resources leave for it.
func (e *engine) elsewhere(id, h int32) int64 {
	most := int64(math.MaxInt64)
	for _, u := range e.path(id) {
		g := &e.resources[u.resource]
		switch st := &e.solver.stages[u.resource]; {
		case u.resource == h || g.open == 0:
		case st.trims:
			most = min(most, int64(mulDiv(uint64(max(g.left, 0)), uint64(e.weight(id)), uint64(max(st.weights, 1)))))
		default:
			most = min(most, g.left/int64(g.open))
		}
	}
	return most
}
