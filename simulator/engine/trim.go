package engine

import "math"

// trim takes from overloaded stages what their own overload costs. Receiver-driven
// transports let switches cut packets down to headers instead of dropping them
// (NDP, Ultra Ethernet), and send them again when the receiver pulls.
//
// For each packet that a stage carries it trims t. Each of these costs a header
// there and, for the other direction has as many, a negative acknowledgement and
// a pull, which where traffic is sprayed comes in place of one beside an
// acknowledgement. By the size of a packet these are h and a. There are two
// bounds, of which t is a smooth minimum.
//
// Windows: what they let be on its way, by what the stage carries in a round trip
// w, is in queues (q), or delivered or trimmed once in a round trip. As the stage
// carries fewer packets for the control between them, (1+t)/(1+a+h·t) = w-q.
//
// Pulls: hosts send k times the stage's rate at the most, beside control of their
// own, (1+t)/(1+a+h·t) = 24/25·k.
//
// As flows come to their ends windows empty, and below a w of q+1/(1+a) nothing is
// trimmed; t is the mean over what is left to carry. So short flows fit into the
// queues and cost nothing.
func (e *engine) trim() {
	s := &e.solver
	for _, h := range s.links {
		r, g := &e.resources[h], &s.stages[h]
		carried := mulDiv(uint64(r.rate), uint64(g.trip), picoseconds) // in a round trip
		if g.offered <= r.rate || carried == 0 {
			continue
		}
		packet := uint64(g.sent.bits / 8)
		header, pull := mulDiv(uint64(g.control), one, packet), mulDiv(uint64(g.acks), one, packet)
		mean := uint64(g.sent.bits / g.sent.packets)
		queue := max(one*queueNum/queueDen, mulDiv(queuePackets*uint64(r.links())*mean, one, carried))
		w := min(mulDiv(uint64(g.flying), one, carried), 1<<32)
		least := queue + one*one/(one+pull)
		if g.trims = w > least-one/4; w <= least { // bursts overflow queues a little earlier
			continue
		}
		k := min(mulDiv(uint64(g.offered), one, uint64(r.rate)), 1<<32) / 25 * 24
		t := smoothMin(trimmed(w-queue, header, pull), trimmed(k, header, pull))
		// The mean: as it is now until windows that empty bind, then falling.
		binds := min(w, max(k+queue, least))
		falling := mulDiv(carried, binds-least, one)
		t = mulDiv(t, uint64(g.rest)-mulDiv(carried, binds, one)+falling/2, uint64(g.rest))
		own := min(t, one) / 2 // pulls beside acknowledgements
		if e.spreading == sprayed {
			own = max(one*pullsNum/pullsDen, t) - t
		}
		cost := min(mulDiv(t, header, one)+mulDiv(own, pull, one), one)
		r.left = max(int64(mulDiv(uint64(r.rate), one, one+cost))-r.fixed, 0)
	}
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

// smoothMin is (a^-8 + b^-8)^(-1/8).
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
		path := e.path(id)[:e.flows[id].steps]
		for _, u := range path[1 : len(path)-1] {
			if g := &s.stages[u.resource]; g.trims {
				g.weights += e.weight(id)
			}
		}
	}
}

// weight is the flow's part in a stage that trims: what it has on its way, a whole
// window while more is left, then ever less. Packets are trimmed whosever they
// are. So flows that are behind catch up, and those that wait for each other come
// to wait at the same time.
func (e *engine) weight(id int32) int64 {
	return max(min(e.window(id), e.flows[id].left.bits()), 1)
}

// apportion shares out what a stage that trims has left, by weight. Flows that
// get less elsewhere leave theirs to the others.
func (e *engine) apportion(h int32) {
	s := &e.solver
	r, g := &e.resources[h], &s.stages[h]
	const rounds = 4
	for round := 1; round <= rounds && r.open > 0; round++ {
		left, weights := uint64(max(r.left, 0)), uint64(max(g.weights, 1))
		for _, ref := range r.flows {
			id := ref >> hopBits
			f := &e.flows[id]
			if f.mark != s.epoch || f.frozen {
				continue
			}
			share := int64(mulDiv(left, uint64(e.weight(id)), weights))
			if most := e.elsewhere(id, h); most < share || round == rounds {
				e.freeze(id, h, max(min(most, share), 1))
			}
		}
	}
}

// elsewhere is what the flow's other resources have left for it.
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
