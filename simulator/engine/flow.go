package engine

import "fmt"

// flow is one transfer from its start to its last acknowledgement.
//
// While it is attached to resources it drains at a rate. It is pending (rate
// 0), alone on all of its resources, or in a component of flows whose rates were
// assigned together. A drained flow leaves its resources when rates on them are next
// assigned, at the latest when its acknowledgement arrives.
//
// A flow takes 128 bytes: two cache lines, the first of which has the fields that the solver
// reads most often. What few runs need of a flow is in slices beside it.
type flow struct {
	left      work  // left to send at the time since
	since     int64 // ps
	rate      int64 // bit/s
	drain     int64 // ps, when it is drained at this rate
	component int32
	mark      uint32 // the solver's epoch in which it was last enlisted
	limit     int32  // the resource that limits the rate; none while there is no rate
	next      int32  // scratch space of the solver: the resource that limits the new rate, or none
	shape     int32
	stamp     uint32

	tail    int64 // ps from drain to last acknowledgement
	carried int64 // the bits that its resources have counted so far
	limited limitedSince
	start   int64 // ps

	cause    int32 // the activity whose end started it, or none
	from, to int32 // ranks
	phase    int32
	step     int32
	queued   bool // its acknowledgement is in the queue
	attached bool
	followed bool // a message waits until its last byte is sent
	shares   bool // the solver has given it a rate; see own
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
	return e.hops[at : at+int(e.shape(&e.flows[id]).hops)]
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

// carries sets t to what the flow carries. All parts of a striped transfer carry the whole.
func (e *engine) carries(id int32, f *flow, t *transfer) {
	t.from, t.to, t.phase, t.step, t.start = f.from, f.to, f.phase, f.step, f.start
	t.bytes = e.shape(f).bytes
	if s := e.stripeOf(id); s != 0 {
		t.bytes = e.stripes[s].bytes
	}
	t.waited = 0
	if e.waited != nil {
		t.waited = e.waited[id]
	}
}

// stripeOf returns the striped transfer that the flow carries a part of, or 0.
func (e *engine) stripeOf(id int32) int32 {
	if e.stripeIDs == nil {
		return 0
	}
	return e.stripeIDs[id]
}

// setBeside stores what few runs need of a flow.
func (e *engine) setBeside(id, stripe int32, waited int64) {
	if e.striped {
		e.stripeIDs = extend(e.stripeIDs, id)
		e.stripeIDs[id] = stripe
	}
	if len(e.traffic.apps) > 0 {
		e.waited = extend(e.waited, id)
		e.waited[id] = waited
	}
}

// extend makes the slice longer than the index.
func extend[T any](list []T, id int32) []T {
	if n := int(id) + 1 - len(list); n > 0 {
		list = append(list, make([]T, n)...)
	}
	return list
}

// counted returns the load that the flow's resources have counted if they have counted these
// bits. A packet counts with its last bit.
func (s *shape) counted(bits int64) load {
	return load{bits, int64(mulDiv(uint64(s.wire.packets), uint64(bits), uint64(s.wire.bits)))}
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
func (e *engine) send(t *transfer) {
	t.start = e.now
	r := &e.ranks[t.from].route
	if d := e.domain(t.from, t.to); d != nil {
		if !e.leads(r, t) {
			e.findInside(r, d, t.from, t.to, t.bytes)
		}
		e.launch(r, t, 0)
		return
	}
	if e.striped && len(e.host(t.from).NICs) > 1 {
		e.sendStriped(t)
		return
	}
	if e.flowlets.entries != nil {
		turns, changed := e.flowlets.begin(t.from, t.to, e.now)
		e.turns = turns
		if changed {
			r.to = none
		}
	}
	if !e.leads(r, t) {
		if !e.find(r, t.from, t.to, t.bytes, 0) {
			return
		}
	}
	e.launch(r, t, 0)
}

// leads reports whether the route is that of the transfer.
func (e *engine) leads(r *route, t *transfer) bool {
	return r.to == t.to && e.shapes.list[r.shape].bytes == t.bytes
}

// launch starts a flow that carries the transfer, or a stripe of it.
//
// It sets each field of the flow by itself: a copy of a whole flow would have to wait for the
// narrower writes of its fields.
func (e *engine) launch(r *route, t *transfer, stripe int32) {
	if int(r.hops) > e.stride {
		e.widenPaths(int(r.hops))
	}
	id, f := e.newFlow()
	f.shape = r.shape
	s := e.shape(f)
	f.left, f.since, f.rate, f.drain, f.tail = s.work, e.now, 0, 0, s.trip
	f.component, f.mark, f.limit, f.next = alone, 0, none, 0
	f.carried, f.limited.time, f.limited.left = 0, 0, 0
	f.from, f.to, f.phase, f.step, f.start = t.from, t.to, t.phase, t.step, t.start
	f.queued, f.attached, f.followed, f.shares = false, false, false, false
	f.cause = e.causes.start()
	f.stamp++
	if f.cause != none {
		e.causes.held++
	}
	if e.striped || len(e.traffic.apps) > 0 {
		e.setBeside(id, stripe, t.waited)
	}
	if e.ordered {
		e.leaves(id)
	}
	e.progress.Events++
	if !e.options.Analytical && e.succeed(id, r) {
		e.runAlone(id, f, s, r)
		return
	}
	path := e.hops[int(id)*e.stride:][:r.hops]
	for i := range path {
		path[i].resource = r.path[i]
	}
	switch {
	case e.options.Analytical:
		f.drain, f.limit = e.now+s.solo, r.limit
		if e.replay.Schedule != nil && t.phase == none {
			f.drain -= 1000 // ASTRA-sim adds the extra nanosecond to messages of collectives only
		}
		e.acknowledgeAt(id)
	case e.occupy(id, path):
		e.runAlone(id, f, s, r)
	default:
		e.attach(id)
		f.component = awaiting
		e.await(id, s.solo)
	}
}

// runAlone gives an attached flow that shares no resource its rate, and schedules its
// acknowledgement.
func (e *engine) runAlone(id int32, f *flow, s *shape, r *route) {
	f.rate, f.drain, f.limit = e.resources[r.limit].rate, e.now+s.solo, r.limit
	f.attached, f.queued = true, true
	e.queue.push(e.now+s.lone, acked, id, f.stamp)
}

func (e *engine) newFlow() (int32, *flow) {
	if n := len(e.freeFlows); n > 0 {
		id := e.freeFlows[n-1]
		e.freeFlows = e.freeFlows[:n-1]
		return id, &e.flows[id]
	}
	if len(e.flows) >= e.options.MaxFlows {
		e.fail(tooManyFlows(e.options.MaxFlows))
		return 0, &e.flows[0]
	}
	e.flows = append(e.flows, flow{cause: none})
	e.hops = append(e.hops, e.noHops[:e.stride]...)
	id := int32(len(e.flows) - 1)
	return id, &e.flows[id]
}

func tooManyFlows(limit int) error {
	return fmt.Errorf("more than %d transfers would be in flight at once", limit)
}

// acknowledgeAt schedules the flow's last acknowledgement. The event becomes stale if
// the flow's rate changes before it is drained.
func (e *engine) acknowledgeAt(id int32) {
	f := &e.flows[id]
	f.queued = true
	e.queue.push(f.drain+f.tail-e.unhindered(e.shape(f), f.drain-f.start), acked, id, f.stamp)
	if f.followed {
		e.queue.push(f.drain, sent, id, f.stamp)
	}
}

// unhindered returns how much earlier a flow ends than the ps in which it drains say. These
// charge an acknowledgement for each packet, but no acknowledgements are on the links in the
// first half of a round trip. Receivers that pull send these acknowledgements' part later:
// packets that come without gaps need separate pulls, in the second half of the round trip.
func (e *engine) unhindered(s *shape, drains int64) int64 {
	if s.form == none {
		return 0
	}
	free := min(drains, s.trip/2)
	if e.trimming {
		free = max(min(free, s.trip-drains), 0)
	}
	acks := 8 * s.wire.packets * e.options.NICs[s.form].Packet.Ack
	return int64(mulDiv(uint64(free), uint64(acks), uint64(s.wire.bits)))
}

// acknowledge ends a flow and starts the transfers that waited for it.
func (e *engine) acknowledge(id int32, f *flow) {
	s := e.shape(f)
	switch {
	case f.attached:
		e.detach(id)
	case e.options.Analytical:
		e.addLimited(f, s, f.drain, 0)
		for _, u := range e.path(id) {
			e.resources[u.resource].carried.add(s.wire)
		}
	}
	var done transfer
	e.carries(id, f, &done)
	packets, stripe := s.wire.packets, e.stripeOf(id)
	e.flowEnded(id, f, s, done.bytes)
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
