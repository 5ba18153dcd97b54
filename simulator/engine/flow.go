package engine

import "fmt"

// flow is one transfer from its start to its last acknowledgement.
//
// While it is attached to resources it drains at a rate. It is pending (rate
// 0), alone on all of its resources, or in a component of flows whose rates were
// assigned together. A drained flow leaves its resources when rates on them are next
// assigned, at the latest when its acknowledgement arrives.
//
// The fields that the solver reads most often come first, in 64 bytes: one cache line.
type flow struct {
	left      work  // left to send at the time since
	since     int64 // ps
	rate      int64 // bit/s
	drain     int64 // ps, when it is drained at this rate
	component int32
	mark      uint32 // the solver's epoch in which it was last enlisted
	limit     int32  // the resource that limits the rate; none while there is no rate
	next      int32  // scratch space of the solver: the resource that limits the new rate
	queued    bool   // its acknowledgement is in the queue
	attached  bool
	frozen    bool

	stamp  uint32
	stripe int32 // the striped transfer that it carries a part of, or 0
	hops   int32 // number of resources on its path
	steps  int32 // number of hops that forward packets; these come first
	tail   int64 // ps from drain to last acknowledgement
	trip   int64 // ps, the part of tail without queues
	fair   int64 // bit/s, scratch space of the solver: its part of a stage that trims
	form   int32 // index of its packet sizes in Options.NICs; none inside scale-up groups

	wire    load // in total
	carried load // the part of wire that its resources have counted so far
	limited limitedSince

	transfer
}

// hop is a flow's use of one resource.
type hop struct {
	resource int32
	pos      int32 // its position in the resource's list
}

// path returns the flow's hops. One slice holds the hops of all flows, stride for each;
// stride is smaller if paths have only links or only bundles, to save memory.
func (e *engine) path(id int32) []hop {
	at := int(id) * e.stride
	return e.hops[at : at+int(e.flows[id].hops)]
}

// transfer is what a flow carries, as its ranks see it.
type transfer struct {
	from, to int32 // ranks
	phase    int32
	step     int32
	bytes    int64 // payload
	start    int64 // ps
	waited   int64 // ps between its offer and its start
}

// load is what a resource or a flow carries on the wire, with headers and
// acknowledgements.
type load struct{ bits, packets int64 }

func (l *load) add(m load)       { l.bits += m.bits; l.packets += m.packets }
func (l load) minus(m load) load { return load{l.bits - m.bits, l.packets - m.packets} }

// Values of flow.component for flows that are in no component.
const (
	alone    = -1
	awaiting = -2
)

// send starts a transfer now.
func (e *engine) send(t transfer) {
	t.start = e.now
	if d := e.domain(t.from, t.to); d != nil {
		r := &e.ranks[t.from].route
		if r.to != t.to || r.bytes != t.bytes {
			e.findInside(r, d, t.from, t.to, t.bytes)
		}
		e.launch(r, t, 0)
		return
	}
	if e.striped && len(e.host(t.from).NICs) > 1 {
		e.sendStriped(t)
		return
	}
	r := &e.ranks[t.from].route
	if e.flowlets.entries != nil {
		turns, changed := e.flowlets.begin(t.from, t.to, e.now)
		e.turns = turns
		if changed {
			r.to = none
		}
	}
	if r.to != t.to || r.bytes != t.bytes {
		if !e.find(r, t.from, t.to, t.bytes, 0) {
			return
		}
	}
	e.launch(r, t, 0)
}

// launch starts a flow that carries the transfer, or a stripe of it.
func (e *engine) launch(r *route, t transfer, stripe int32) {
	id := e.newFlow()
	f := &e.flows[id]
	*f = flow{
		hops: r.hops, steps: r.steps, tail: r.tail, trip: r.tail, form: r.form, wire: r.wire, left: r.work, since: e.now,
		transfer: t, stripe: stripe, component: alone, stamp: f.stamp + 1, limit: none,
	}
	path := e.path(id)
	for i := range path {
		path[i].resource = r.path[i]
	}
	e.progress.Events++
	switch {
	case e.options.Analytical:
		f.drain, f.limit = e.now+r.solo, r.limit
		if e.replay.Program != nil && t.phase == none {
			f.drain -= 1000 // ASTRA-sim adds the extra nanosecond to messages of collectives only
		}
		e.acknowledgeAt(id)
	case e.vacant(path):
		e.attach(id)
		f.rate, f.drain, f.limit = r.rate, e.now+r.solo, r.limit
		e.acknowledgeAt(id)
	default:
		e.attach(id)
		f.component = awaiting
		e.await(id, r.solo)
	}
}

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
	e.hops = append(e.hops, e.noHops[:e.stride]...)
	return int32(len(e.flows) - 1)
}

func tooManyFlows(limit int) error {
	return fmt.Errorf("more than %d transfers would be in flight at once", limit)
}

// acknowledgeAt schedules the flow's last acknowledgement. The event becomes stale if
// the flow's rate changes before it is drained.
func (e *engine) acknowledgeAt(id int32) {
	f := &e.flows[id]
	f.queued = true
	e.queue.push(f.drain+f.tail-e.unhindered(f), acked, id, f.stamp)
}

// unhindered returns how much earlier a flow ends than its drain time says. The drain
// time charges an acknowledgement for each packet, but no acknowledgements are on the
// links in the first half of a round trip.
func (e *engine) unhindered(f *flow) int64 {
	if f.form == none {
		return 0
	}
	acks := 8 * f.wire.packets * e.options.NICs[f.form].Packet.Ack
	return int64(mulDiv(uint64(min(f.drain-f.start, f.trip/2)), uint64(acks), uint64(f.wire.bits)))
}

// vacant detaches drained flows that were alone on the path's resources, and reports
// whether no other flow uses these resources.
func (e *engine) vacant(path []hop) bool {
	vacant := true
	for i := range path {
		users := e.resources[path[i].resource].flows
		if len(users) == 0 {
			continue
		}
		if g := users[0] >> hopBits; len(users) == 1 && e.flows[g].component == alone && e.flows[g].drain <= e.now {
			e.detach(g)
			continue
		}
		vacant = false
	}
	return vacant
}

func (e *engine) attach(id int32) {
	e.flows[id].attached = true
	path := e.path(id)
	for i := range path {
		r := &e.resources[path[i].resource]
		path[i].pos = int32(len(r.flows))
		r.flows = append(r.flows, id<<hopBits|int32(i))
	}
}

// detach removes the drained flow from its resources, which count the rest of what it
// carried.
func (e *engine) detach(id int32) {
	f := &e.flows[id]
	f.attached = false
	e.addLimited(f, f.drain, 0)
	rest := f.wire.minus(f.carried)
	for _, u := range e.path(id) {
		h := u.resource
		r := &e.resources[h]
		r.carried.add(rest)
		last := len(r.flows) - 1
		if moved := r.flows[last]; u.pos != int32(last) {
			r.flows[u.pos] = moved
			e.hops[int(moved>>hopBits)*e.stride+int(moved&(1<<hopBits-1))].pos = u.pos
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

// acknowledge ends a flow and starts the transfers that waited for it.
func (e *engine) acknowledge(id int32) {
	f := &e.flows[id]
	switch {
	case f.attached:
		e.detach(id)
	case e.options.Analytical:
		e.addLimited(f, f.drain, 0)
		for _, u := range e.path(id) {
			e.resources[u.resource].carried.add(f.wire)
		}
	}
	done, packets, stripe := f.transfer, f.wire.packets, f.stripe
	f.component = alone
	f.queued = false
	f.stamp++
	e.freeFlows = append(e.freeFlows, id)
	if stripe != 0 {
		var all bool
		if packets, all = e.gather(stripe, packets); !all {
			return
		}
	}
	if e.flowlets.entries != nil {
		e.flowlets.end(done.from, done.to, e.now)
	}
	e.received(&done, packets)
}
