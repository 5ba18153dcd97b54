package engine

import "slices"

// succeed attaches the flow in place of a drained one that was alone on the same path, and
// reports whether there is one. In a ring there nearly always is.
//
// The one before is mostly the next flow to be acknowledged and started again. That its hops
// are read here brings them into the cache: with a comparison that does not need them, a ring of
// 8,192 ranks took a fifth longer (ADR 59).
func (e *engine) succeed(id int32, on *route) bool {
	path := on.path[:on.hops]
	users := e.resources[path[0]].flows
	if len(users) != 1 {
		return false
	}
	at := users[0] >> hopBits
	before := &e.flows[at]
	if !e.drainedAlone(before) || e.shape(before).hops != on.hops {
		return false
	}
	left := e.hops[int(at)*e.stride:][:len(path)]
	for i, h := range path {
		if left[i].resource != h || len(e.resources[h].flows) != 1 {
			return false
		}
	}
	rest := e.uncounted(before)
	hops := e.hops[int(id)*e.stride:][:len(path)]
	for i, h := range path {
		r := &e.resources[h]
		r.carried.add(rest)
		r.flows[0] = id<<hopBits | int32(i)
		hops[i] = hop{resource: h}
	}
	return true
}

// occupy detaches drained flows that were alone on the path's resources. If no other flow
// uses these resources, it attaches the flow and returns true.
func (e *engine) occupy(id int32, path []hop) bool {
	vacant := true
	for i := range path {
		users := e.resources[path[i].resource].flows
		if len(users) == 0 {
			continue
		}
		if len(users) == 1 && e.drainedAlone(&e.flows[users[0]>>hopBits]) {
			e.detach(users[0] >> hopBits)
			continue
		}
		vacant = false
	}
	if vacant {
		e.attach(id)
	}
	return vacant
}

func (e *engine) drainedAlone(f *flow) bool { return f.component == alone && f.drain <= e.now }

func (e *engine) attach(id int32) {
	e.flows[id].attached = true
	path := e.path(id)
	for i := range path {
		r := &e.resources[path[i].resource]
		path[i].pos = int32(len(r.flows))
		if len(r.flows) == cap(r.flows) {
			r.flows = slices.Grow(r.flows, max(len(r.flows), e.crowd)) // at once, to leave less garbage behind
		}
		r.flows = append(r.flows, id<<hopBits|int32(i))
	}
}

// detach removes the drained flow from its resources, which count the rest of what it
// carried.
func (e *engine) detach(id int32) {
	f := &e.flows[id]
	rest := e.uncounted(f)
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

// uncounted ends the drained flow's use of its resources, and returns the load that these
// have not counted yet.
func (e *engine) uncounted(f *flow) load {
	f.attached = false
	s := e.shape(f)
	e.addLimited(f, s, f.drain, 0)
	if f.carried == 0 {
		return s.wire
	}
	return s.wire.minus(s.counted(f.carried))
}
