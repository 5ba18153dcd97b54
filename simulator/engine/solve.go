package engine

import "math"

// component is a set of flows whose rates were assigned together. Its settle event is due
// when the first of them is drained, or a settleDelay later, and frees the component.
type component struct {
	flows []int32
	live  int32 // flows that are still in it
}

// await queues a started flow for a rate. Flows that start at one instant get their
// rates together; in large components, flows that start slightly later do too.
func (e *engine) await(id int32, solo int64) {
	e.pending = append(e.pending, id)
	crowd := 0
	for _, u := range e.path(id) {
		r := &e.resources[u.resource]
		crowd = max(crowd, len(r.flows))
		if c := e.flows[r.flows[0]>>hopBits].component; c >= 0 {
			crowd = max(crowd, int(e.components[c].live))
		}
	}
	at := e.now + settleDelay(solo, crowd)
	if len(e.pending) == 1 || at < e.admitAt {
		e.admitAt = at
		e.queue.push(at, admit, 0, 0)
	}
}

// settleDelay returns how long a change of rates may wait for other changes: 0 in
// small components, and a small part of the flow's own time in large ones, which
// would otherwise be solved again for each of thousands of flows. A real
// transport, too, needs a round trip to use freed capacity. The delay moves the end
// of a 512-rank halving-doubling allReduce by 0.3 %, and that of interleaved
// allToAlls not at all.
func settleDelay(duration int64, flows int) int64 {
	switch {
	case flows <= 64:
		return 0
	case flows <= 1024:
		return duration >> 6
	default:
		return duration >> 5
	}
}

// settlePending gives the started flows their rates.
func (e *engine) settlePending() {
	for _, id := range e.pending {
		// The solution for another flow may have given it a rate already.
		if e.flows[id].component == awaiting {
			e.resetSolver()
			e.enlist(id)
			e.solve()
		}
	}
	e.pending = e.pending[:0]
}

// settleComponent gives the capacity that the component's drained flows have freed to
// other flows. The remaining flows of the component form a new one.
func (e *engine) settleComponent(c int32) {
	for _, id := range e.components[c].flows {
		if f := &e.flows[id]; f.component == c && f.attached && f.drain <= e.now {
			e.detach(id)
		}
	}
	for i := 0; i < len(e.freed); i++ {
		if h := e.freed[i]; e.resources[h].freed {
			e.resetSolver()
			e.touch(h)
			e.solve()
		}
	}
	e.freed = e.freed[:0]
	s := &e.solver
	s.flows = s.flows[:0]
	for _, id := range e.components[c].flows {
		if e.flows[id].component == c {
			s.flows = append(s.flows, id)
		}
	}
	if len(s.flows) > 0 {
		e.schedule()
	}
	e.components[c].flows = e.components[c].flows[:0]
	e.freeComponents = append(e.freeComponents, c)
}

// leave removes a flow from its component. The list of an empty component is freed at
// once, its number at its settle event.
func (e *engine) leave(f *flow) {
	c := &e.components[f.component]
	if c.live--; c.live == 0 {
		c.flows = nil
	}
	f.component = alone
}

// setRate sets the flow's rate from now on. An acknowledgement that was scheduled at
// another rate becomes stale.
func (e *engine) setRate(f *flow, rate int64) {
	if f.queued && rate != f.rate {
		f.stamp++
		f.queued = false
	}
	if rate != f.rate {
		f.rate = rate
		f.drain = e.now + f.left.duration(rate)
	}
}

// schedule makes the solved flows a component, except a single flow that shares no
// resource. It schedules the acknowledgements of the flows that drain before the
// component is settled.
func (e *engine) schedule() {
	s := &e.solver
	first := int64(math.MaxInt64)
	var longest int64
	for _, id := range s.flows {
		f := &e.flows[id]
		if f.drain < first {
			first, longest = f.drain, f.drain-f.start
		}
	}
	if len(s.flows) == 1 && e.exclusive(s.flows[0]) {
		id := s.flows[0]
		e.flows[id].component = alone
		if !e.flows[id].queued {
			e.acknowledgeAt(id)
		}
		return
	}
	horizon := first + settleDelay(longest, len(s.flows))
	c := e.newComponent()
	e.components[c].flows = append(e.components[c].flows, s.flows...)
	e.components[c].live = int32(len(s.flows))
	due := 0
	for _, id := range s.flows {
		if f := &e.flows[id]; f.drain <= horizon && !f.queued {
			due++
		}
	}
	e.queue.reserve(due)
	for _, id := range s.flows {
		f := &e.flows[id]
		f.component = c
		if f.drain <= horizon && !f.queued {
			e.acknowledgeAt(id)
		}
	}
	e.queue.push(horizon, settle, c, 0)
}

// exclusive reports whether no other flow uses the flow's resources.
func (e *engine) exclusive(id int32) bool {
	for _, u := range e.path(id) {
		if len(e.resources[u.resource].flows) > 1 {
			return false
		}
	}
	return true
}

func (e *engine) newComponent() int32 {
	if n := len(e.freeComponents); n > 0 {
		c := e.freeComponents[n-1]
		e.freeComponents = e.freeComponents[:n-1]
		return c
	}
	e.components = append(e.components, component{})
	return int32(len(e.components) - 1)
}
