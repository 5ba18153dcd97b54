package engine

import (
	"math"
	"slices"

	"netsim/simulator/snapshot"
)

// maxIndex is the bound of an index whose real bound is not known here.
const maxIndex = math.MaxInt32

// visitFlows visits the transfers in flight. Of an ended transfer only the stamp
// matters, which makes old events stale.
func (e *engine) visitFlows(c *snapshot.Codec) {
	snapshot.Slice(c, &e.stripes, func(s *stripe) {
		snapshot.Int(c, &s.open)
		snapshot.Int(c, &s.packets)
	})
	snapshot.Slice(c, &e.freeStripes, func(id *int32) { snapshot.Index(c, id, 1, len(e.stripes)) })
	count := len(e.flows)
	snapshot.Index(c, &count, 0, e.options.MaxFlows+1)
	snapshot.Slice(c, &e.freeFlows, func(id *int32) { snapshot.Index(c, id, 0, count) })
	free := make(map[int32]bool, len(e.freeFlows))
	for _, id := range e.freeFlows {
		free[id] = true
	}
	for id := range int32(count) {
		if c.Reading() {
			e.flows = append(e.flows, flow{component: alone, cause: none})
			e.hops = append(e.hops, e.noHops[:e.stride]...)
		}
		f := &e.flows[id]
		snapshot.Uint(c, &f.stamp)
		if !free[id] {
			e.visitFlow(c, id, f)
		}
	}
}

func (e *engine) visitFlow(c *snapshot.Codec, id int32, f *flow) {
	var k shape
	if !c.Reading() {
		k = *e.shape(f)
	}
	snapshot.Index(c, &k.hops, 1, maxPath+1)
	snapshot.Index(c, &k.steps, 1, int(k.hops)+1)
	if int(k.hops) > e.stride && !c.Failed() {
		e.widenPaths(int(k.hops))
	}
	path := e.hops[int(id)*e.stride:][:min(int(k.hops), e.stride)]
	for i := range path {
		snapshot.Index(c, &path[i].resource, 0, len(e.resources))
		if c.Reading() {
			path[i].pos = none // until its resource is visited
		}
	}
	f.left.visit(c)
	for _, v := range []*int64{&f.since, &f.rate, &f.drain, &f.tail, &k.trip} {
		snapshot.Int(c, v)
	}
	k.wire.visit(c)
	carried := load{}
	if f.carried != 0 {
		carried = k.counted(f.carried)
	}
	carried.visit(c)
	t, stripe := transfer{}, int32(0)
	if !c.Reading() {
		e.carries(id, f, &t)
		stripe = e.stripeOf(id)
	}
	e.visitTransfer(c, &t)
	snapshot.Index(c, &f.limit, none, len(e.resources))
	snapshot.Index(c, &f.cause, none, len(e.causes.list))
	snapshot.Int(c, &k.solo)
	snapshot.Int(c, &f.limited.time)
	snapshot.Int(c, &f.limited.left)
	snapshot.Index(c, &f.component, awaiting, maxIndex)
	snapshot.Index(c, &k.form, none, len(e.options.NICs))
	snapshot.Index(c, &stripe, 0, max(len(e.stripes), 1))
	c.Bool(&f.queued)
	c.Bool(&f.attached)
	if e.ordered {
		c.Bool(&f.followed)
	}
	if c.Bool(&f.shares); f.shares {
		e.visitOwn(c, id)
	}
	if f.followed && t.phase == none {
		c.Refuse("a message of rank %d follows one of no collective", t.from)
	}
	if !c.Reading() || c.Failed() {
		return
	}
	f.carried = carried.bits
	if f.cause != none {
		e.causes.held++
	}
	f.from, f.to, f.phase, f.step, f.start = t.from, t.to, t.phase, t.step, t.start
	e.setBeside(id, stripe, t.waited)
	if stripe != 0 {
		e.stripes[stripe].bytes = t.bytes
	}
	k.bytes = t.bytes
	f.shape = e.shapeOf(k, path[0].resource)
}

func (e *engine) visitTransfer(c *snapshot.Codec, t *transfer) {
	snapshot.Index(c, &t.from, 0, len(e.ranks))
	snapshot.Index(c, &t.to, 0, len(e.ranks))
	phases, steps := 0, maxIndex
	switch r := &e.replay; {
	case c.Failed():
		return
	case r.Schedule != nil:
		phases = len(r.episodes)
	case e.ranks[t.from].group != none:
		phases = len(e.groups[e.ranks[t.from].group].plans)
	default:
		phases, steps = len(e.traffic.apps), len(e.traffic.sources)
	}
	snapshot.Index(c, &t.phase, none, phases)
	if e.replay.Schedule != nil && t.phase == none {
		steps = len(e.replay.Messages)
	}
	snapshot.Index(c, &t.step, 0, steps)
	for _, v := range []*int64{&t.bytes, &t.start, &t.waited} {
		snapshot.Int(c, v)
	}
	if c.Failed() {
		return
	}
	switch r := &e.replay; {
	case t.phase == none && r.Schedule == nil,
		t.phase != none && r.Schedule != nil && r.episodes[t.phase] == nil,
		e.ranks[t.from].group != e.ranks[t.to].group:
		c.Refuse("a transfer from rank %d to rank %d has no matching phase or collective", t.from, t.to)
	}
}

// visitResources visits the list of flows of each resource. It keeps the order of the
// list, in which rates are assigned.
func (e *engine) visitResources(c *snapshot.Codec) {
	named := 0
	id := int32(0)
	snapshot.Each(c, "resources", e.resources, func(r *resource) {
		snapshot.Slice(c, &r.flows, func(ref *int32) { snapshot.Index(c, ref, 0, len(e.flows)<<hopBits) })
		r.carried.visit(c)
		c.Bool(&r.freed)
		if c.Reading() && !c.Failed() {
			e.setPositions(c, id, r)
		}
		named += len(r.flows)
		id++
	})
	used := 0
	for id := range e.flows {
		if e.flows[id].attached {
			used += len(e.path(int32(id)))
		}
	}
	if used != named {
		c.Refuse("flows have %d hops and resources list %d", used, named)
	}
	snapshot.Slice(c, &e.freed, func(id *int32) { snapshot.Index(c, id, 0, len(e.resources)) })
	snapshot.Each(c, "resources", e.resources, func(r *resource) {
		r.limited.time.visit(c)
		snapshot.Int(c, &r.limited.bits)
	})
}

// setPositions sets the positions of the flows in the resource's list.
func (e *engine) setPositions(c *snapshot.Codec, id int32, r *resource) {
	for at, ref := range r.flows {
		f, n := &e.flows[ref>>hopBits], ref&(1<<hopBits-1)
		if !f.attached || int(n) >= len(e.path(ref>>hopBits)) {
			c.Refuse("resource %d lists a flow that does not use it", id)
			return
		}
		hop := &e.path(ref >> hopBits)[n]
		if hop.resource != id || hop.pos != none {
			c.Refuse("resource %d lists the wrong hop of a flow", id)
			return
		}
		hop.pos = int32(at)
	}
}

func (e *engine) visitComponents(c *snapshot.Codec) {
	flows := func(id *int32) { snapshot.Index(c, id, 0, len(e.flows)) }
	snapshot.Slice(c, &e.components, func(of *component) {
		snapshot.Slice(c, &of.flows, flows)
		snapshot.Int(c, &of.live)
	})
	snapshot.Slice(c, &e.freeComponents, func(id *int32) { snapshot.Index(c, id, 0, len(e.components)) })
	snapshot.Slice(c, &e.pending, flows)
	snapshot.Int(c, &e.admitAt)
	for id := range e.flows {
		if int(e.flows[id].component) >= len(e.components) {
			c.Refuse("flow %d is in a component that does not exist", id)
		}
	}
}

func (e *engine) visitFlowlets(c *snapshot.Codec) {
	t := &e.flowlets
	at, gaps := 0, len(t.gaps)
	snapshot.Each(c, "pairs", t.entries, func(f *flowlet) {
		turns := t.turns[at : at+gaps]
		at += gaps
		if c.Bool(&f.used); !f.used {
			return
		}
		snapshot.Int(c, &f.from)
		snapshot.Int(c, &f.to)
		snapshot.Int(c, &f.ended)
		snapshot.Int(c, &f.open)
		snapshot.Each(c, "gaps", turns, func(n *uint32) { snapshot.Uint(c, n) })
	})
}

// due is an instant with its events in the order of their pushes.
type due struct {
	key    uint64
	events []event
}

// visitQueue visits the queued events in the order in which they will happen, not in
// that of memory: events of one instant and kind in the order of their pushes.
func (e *engine) visitQueue(c *snapshot.Codec) {
	list := e.queue.list()
	least := uint64(0) // the least key that may follow
	snapshot.Slice(c, &list, func(d *due) {
		snapshot.Uint(c, &d.key)
		k := kindOf(d.key)
		if d.key < least || timeOf(d.key) < e.now || k > start {
			c.Refuse("an event is out of order")
		}
		least = d.key + 1
		snapshot.Slice(c, &d.events, func(ev *event) {
			snapshot.Index(c, &ev.id, none, e.subjects(k))
			snapshot.Uint(c, &ev.stamp)
			if c.Reading() && !c.Failed() && !e.expects(k, ev) {
				c.Refuse("an event has no subject")
			}
		})
	})
	if !c.Reading() || c.Failed() {
		return
	}
	e.queue = queue{}
	for _, d := range list {
		for _, ev := range d.events {
			e.queue.push(timeOf(d.key), kindOf(d.key), ev.id, ev.stamp)
		}
	}
}

// subjects returns the number of objects that events of a kind may refer to.
func (e *engine) subjects(k kind) int {
	switch k {
	case sent, acked:
		return len(e.flows)
	case computed:
		return len(e.replay.ranks)
	case settle:
		return len(e.components)
	case arrive:
		return len(e.traffic.sources)
	default:
		return 1
	}
}

// expects reports whether the event has a subject, if its kind needs one.
func (e *engine) expects(k kind, ev *event) bool {
	switch k {
	case computed:
		return ev.id >= 0 && ev.stamp < 2 && len(e.replay.ranks[ev.id].processors[ev.stamp].queue) > 0
	case arrive:
		return true
	default:
		return ev.id >= 0
	}
}

// list returns the events by instant and kind.
func (q *queue) list() []due {
	instants := slices.Clone(q.heap)
	slices.SortFunc(instants, func(a, b instant) int {
		if a.before(&b) {
			return -1
		}
		return 1
	})
	var list []due
	for _, in := range instants {
		if n := len(list); n == 0 || list[n-1].key != in.key {
			list = append(list, due{key: in.key})
		}
		d := &list[len(list)-1]
		for n := in.first; n != 0; n = q.nodes[n].next {
			d.events = append(d.events, q.nodes[n].event)
		}
	}
	return list
}
