package engine

import (
	"fmt"

	"netsim/simulator/topology"
)

// flow is one transfer from its start to its last acknowledgement.
//
// While it is attached to resources it drains at a rate. It is pending (rate
// 0), alone on all of its resources, or in a component with the flows that it
// shares resources with. A flow that is drained leaves its resources at the
// latest when somebody else needs them or its acknowledgement arrives.
type flow struct {
	path [topology.MaxHops]int32 // resources
	pos  [topology.MaxHops]int32 // its place in each resource's list
	hops int32

	left  work  // at `since`
	since int64 // ps
	rate  int64 // bit/s
	drain int64 // ps, when nothing is left at this rate
	tail  int64 // ps from drain to last acknowledgement

	wire    load // all of it
	carried load // of this, counted on the resources

	transfer

	share     int64 // bit/s, the solver's
	limit     int32 // the resource that limits the rate
	component int32
	stamp     uint32
	mark      uint32 // the solver's visits
	queued    bool   // its acknowledgement is in the queue
	attached  bool
	frozen    bool
}

// transfer is what a flow carries, of all layers the one that ranks know.
type transfer struct {
	from, to int32 // ranks
	phase    int32
	step     int32
	bytes    int64 // payload
	start    int64 // ps
}

// load is what a resource or a flow carries on the wire, with headers and
// acknowledgements.
type load struct{ bits, packets int64 }

func (l *load) add(m load)       { l.bits += m.bits; l.packets += m.packets }
func (l load) minus(m load) load { return load{l.bits - m.bits, l.packets - m.packets} }

// Values of flow.component for flows in none.
const (
	alone    = -1
	awaiting = -2
)

// route is what a rank's transfers to one other rank have in common. Ranks
// mostly talk to one peer again and again, so each keeps its last one.
type route struct {
	to    int32
	hops  int32
	path  [topology.MaxHops]int32
	bytes int64
	wire  load
	work  work  // its bits
	tail  int64 // ps
	rate  int64 // bit/s of the slowest resource
	limit int32 // that resource
	solo  int64 // ps to drain at that rate
}

// send starts a transfer now.
func (e *engine) send(t transfer) {
	r := &e.ranks[t.from].route
	if r.to != t.to || r.bytes != t.bytes {
		if !e.find(r, t.from, t.to, t.bytes) {
			return
		}
	}
	id := e.newFlow()
	f := &e.flows[id]
	t.start = e.now
	*f = flow{
		path: r.path, hops: r.hops, tail: r.tail, wire: r.wire, left: r.work, since: e.now,
		transfer: t, component: alone, stamp: f.stamp + 1,
	}
	e.progress.Events++
	switch {
	case e.options.Analytical:
		f.drain = e.now + r.solo
		e.acknowledgeAt(id)
	case e.vacant(f):
		e.attach(id)
		f.rate, f.drain, f.limit = r.rate, e.now+r.solo, r.limit
		e.acknowledgeAt(id)
	default:
		e.attach(id)
		f.component = awaiting
		e.await(id)
	}
}

// find fills in the route; false when there is none.
func (e *engine) find(r *route, from, to int32, bytes int64) bool {
	if r.to != to {
		var path []int32
		if e.options.Routing == Spray {
			path = e.routes.Spray(r.path[:0], from, to)
		} else {
			path = e.routes.ECMP(r.path[:0], from, to)
		}
		if len(path) == 0 {
			e.fail(fmt.Errorf("no path from rank %d to rank %d", from, to))
			return false
		}
		r.to, r.hops = to, int32(len(path))
	}
	r.bytes = bytes
	e.measure(r)
	return true
}

// measure works out the times of a transfer that has its path for itself.
func (e *engine) measure(r *route) {
	p := e.options.Packet
	packets := packetsOf(r.bytes, p.MSS)
	r.wire = load{8 * (r.bytes + packets*(p.Header+p.Ack)), packets}
	path := r.path[:r.hops]
	r.rate, r.limit = e.resources[path[0]].rate, path[0]
	var delay int64
	for _, h := range path {
		if rate := e.resources[h].rate; rate < r.rate {
			r.rate, r.limit = rate, h
		}
		delay += e.resources[h].delay
	}
	if e.options.Analytical {
		r.wire.bits = 8 * r.bytes
		ns := (delay + int64(mulDiv(uint64(r.wire.bits), picoseconds, uint64(r.rate)))) / 1000
		r.solo, r.tail = 1000*(ns+1), 0
		return
	}
	r.work = workOf(r.wire.bits)
	r.solo = r.work.duration(r.rate)
	// The last packet is stored and forwarded at every hop but the first,
	// whose sending is the draining; its acknowledgement comes back the same
	// way.
	last := workOf(8 * (min(r.bytes, p.MSS) + p.Header))
	ack := workOf(8 * p.Ack)
	r.tail = 2 * delay
	for i, h := range path {
		if i > 0 {
			r.tail += last.duration(e.resources[h].hopRate)
		}
		r.tail += ack.duration(e.resources[h].hopRate)
	}
}

func packetsOf(bytes, mss int64) int64 { return max(1, (bytes+mss-1)/mss) }

func (e *engine) newFlow() int32 {
	if n := len(e.freeFlows); n > 0 {
		id := e.freeFlows[n-1]
		e.freeFlows = e.freeFlows[:n-1]
		return id
	}
	if len(e.flows) >= e.options.MaxFlows {
		e.fail(tooManyFlows(e.options.MaxFlows))
		return 0
	}
	e.flows = append(e.flows, flow{})
	return int32(len(e.flows) - 1)
}

func tooManyFlows(limit int) error {
	return fmt.Errorf("more than %d transfers would be in flight at once", limit)
}

// acknowledgeAt schedules the flow's last acknowledgement, which is certain
// unless its rate changes before it is drained.
func (e *engine) acknowledgeAt(id int32) {
	f := &e.flows[id]
	f.queued = true
	e.queue.push(f.drain+f.tail, acked, id, f.stamp)
}

// vacant reports whether nobody uses the flow's resources, after lone flows
// that are drained have left them.
func (e *engine) vacant(f *flow) bool {
	vacant := true
	for _, h := range f.path[:f.hops] {
		users := e.resources[h].flows
		if len(users) == 0 {
			continue
		}
		if g := users[0] >> 3; len(users) == 1 && e.flows[g].component == alone && e.flows[g].drain <= e.now {
			e.detach(g)
			continue
		}
		vacant = false
	}
	return vacant
}

func (e *engine) attach(id int32) {
	f := &e.flows[id]
	f.attached = true
	for hop, h := range f.path[:f.hops] {
		r := &e.resources[h]
		f.pos[hop] = int32(len(r.flows))
		r.flows = append(r.flows, id<<3|int32(hop))
	}
}

// detach takes the drained flow off its resources and counts there what it
// carried.
func (e *engine) detach(id int32) {
	f := &e.flows[id]
	f.attached = false
	rest := f.wire.minus(f.carried)
	for hop, h := range f.path[:f.hops] {
		r := &e.resources[h]
		r.carried.add(rest)
		last := len(r.flows) - 1
		if moved := r.flows[last]; f.pos[hop] != int32(last) {
			r.flows[f.pos[hop]] = moved
			e.flows[moved>>3].pos[moved&7] = f.pos[hop]
		}
		r.flows = r.flows[:last]
		if last > 0 && !r.freed {
			r.freed = true
			e.freed = append(e.freed, h)
		}
	}
	if f.component >= 0 {
		e.leave(f)
	}
}

// acknowledge ends a flow: it leaves, and what waited for it goes on.
func (e *engine) acknowledge(id int32) {
	f := &e.flows[id]
	switch {
	case f.attached:
		e.detach(id)
	case e.options.Analytical:
		for _, h := range f.path[:f.hops] {
			e.resources[h].carried.add(f.wire)
		}
	}
	done := f.transfer
	f.component = alone
	f.queued = false
	f.stamp++
	e.freeFlows = append(e.freeFlows, id)
	e.received(&done)
}
