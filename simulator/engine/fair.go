package engine

import "math"

// solver assigns rates to flows. It reuses its slices.
type solver struct {
	epoch  uint32
	flows  []int32 // the enlisted flows, which are solved for
	links  []int32 // their resources
	frozen int     // the number of flows that have their rates
	heap   []share

	stages []stage // by resource; see engine.stages
	fair   []int64 // by flow, bit/s: its part of a stage that trims

	collisions []counted // by directed bundle; see engine.collisions
}

// counted is a number of flows that was counted in an epoch.
type counted struct {
	mark  uint32
	flows int64
}

// share is the rate that a resource offers each of its flows that have no rate yet.
type share struct {
	rate     int64
	resource int32
}

// manyRates is how many rates the rounds of a solution may assign, or a quarter of the flows
// in flight if these are more, before it adds all connected flows at once. In
// halving-doubling on many ranks a change reaches some hundred flows of thousands that are
// connected; in uncoordinated traffic at a high load it reaches nearly all, and rounds would
// lead there slowly.
const manyRates = 2048

// resetSolver empties the solver for another solution.
func (e *engine) resetSolver() {
	s := &e.solver
	s.epoch++
	s.flows, s.links = s.flows[:0], s.links[:0]
}

// solve assigns max-min fair rates where something changed, starting with the
// enlisted flows. It solves for these while all others keep their rates, enlists
// the flows whose rate is then no longer fair, and repeats. After manyRates it enlists
// all connected flows. If packets queue or are trimmed it does so at once, because rates
// then depend on the whole offered load.
func (e *engine) solve() {
	s := &e.solver
	e.reach(0)
	if len(s.flows) == 0 {
		return
	}
	most := max(manyRates, (len(e.flows)-len(e.freeFlows))/4)
	for assigned := len(s.flows); ; assigned += len(s.flows) {
		if assigned > most || e.stages() {
			e.connect()
			e.fill()
			break
		}
		e.fill()
		if !e.widen() {
			break
		}
	}
	if e.stages() {
		e.scatter()
	}
	for _, id := range s.flows {
		f := &e.flows[id]
		rate := e.resources[f.next].level
		if e.trims(f.next) {
			rate = s.fair[id]
		}
		e.setRate(f, rate)
		e.setOwn(id, f)
		if f.limit != f.next {
			e.setLimit(f)
		}
	}
	e.schedule()
}

// enlist adds the flow to those that are solved for.
func (e *engine) enlist(id int32) {
	s := &e.solver
	f := &e.flows[id]
	f.mark = s.epoch
	s.flows = append(s.flows, id)
	if f.component >= 0 {
		e.leave(f)
	}
	f.component = alone
	e.keepOwn(id, f)
	if f.rate > 0 {
		f.left = f.left.after(f.rate, e.now-f.since)
	}
	f.since = e.now
	for _, u := range e.path(id) {
		if r := &e.resources[u.resource]; r.mark == s.epoch {
			r.fixed -= f.rate
			r.members++
		}
	}
}

// reach touches the resources of the enlisted flows from the given index on.
func (e *engine) reach(from int) {
	s := &e.solver
	for i := from; i < len(s.flows); i++ {
		for _, u := range e.path(s.flows[i]) {
			if e.resources[u.resource].mark != s.epoch {
				e.touch(u.resource)
			}
		}
	}
}

// touch adds up the rates of the resource's flows that are not solved for. It
// detaches drained flows. It enlists flows without a rate, flows that were alone on
// their resources, and flows that freed capacity here may speed up.
func (e *engine) touch(h int32) {
	s := &e.solver
	r := &e.resources[h]
	freed := r.freed
	r.freed = false
	r.mark, r.fixed, r.members = s.epoch, 0, 0
	s.links = append(s.links, h)
	for j := 0; j < len(r.flows); {
		id := r.flows[j] >> hopBits
		f := &e.flows[id]
		switch {
		case f.mark == s.epoch:
			r.members++
		case f.rate > 0 && f.drain <= e.now:
			e.detach(id)
			continue
		default:
			r.fixed += f.rate
			if f.component < 0 || freed && (f.limit == h || e.limitedBySpray(id)) {
				e.enlist(id)
			}
		}
		j++
	}
}

// limitedBySpray reports whether a sprayed stage limits the flow. The flow's share
// then also depends on what its NICs have to send.
func (e *engine) limitedBySpray(id int32) bool {
	f := &e.flows[id]
	path := e.path(id)[:e.shape(f).steps]
	return e.stages() && f.limit != path[0].resource && f.limit != path[len(path)-1].resource
}

// fill raises the rates of the enlisted flows together and freezes each flow when
// one of its resources is full: max-min fairness. Shares are rounded down to whole
// bit/s.
func (e *engine) fill() {
	s := &e.solver
	for _, h := range s.links {
		r := &e.resources[h]
		r.left, r.open = max(r.rate-r.fixed, 0), r.members
		r.level, r.most = math.MaxInt64, 0
	}
	if e.stages() {
		e.survey()
	}
	if e.trimming {
		e.pull()
		e.trim()
		e.weigh()
	}
	s.heap = s.heap[:0]
	for _, h := range s.links {
		if r := &e.resources[h]; r.open > 0 && !e.idleLimit(r) {
			s.push(share{r.left / int64(r.open), h})
		}
	}
	for _, id := range s.flows {
		e.flows[id].next = none
	}
	for s.frozen = 0; s.frozen < len(s.flows); {
		least := s.heap[0]
		r := &e.resources[least.resource]
		if r.open == 0 {
			s.pop()
			continue
		}
		// Flows frozen since this share was computed can only have raised it.
		if now := r.left / int64(r.open); now > least.rate {
			s.heap[0].rate = now
			s.sink(0)
			continue
		}
		s.pop()
		r.level = max(least.rate, 1)
		if e.trims(least.resource) {
			e.apportion(least.resource)
			continue
		}
		for _, ref := range r.flows {
			if f := &e.flows[ref>>hopBits]; f.mark == s.epoch && f.next == none {
				e.freeze(ref>>hopBits, least.resource, r.level)
			}
		}
	}
}

// stages reports whether packets queue, or are trimmed, by what all flows of a stage send.
func (e *engine) stages() bool {
	return e.trimming || e.spreading == sprayed && e.options.Transport == Lossless && !e.options.Analytical
}

// trims reports whether the resource is a stage that trims.
func (e *engine) trims(h int32) bool {
	return e.trimming && e.solver.stages[h].trims
}

// freeze sets the final rate of an enlisted flow. Resource h limits the flow.
func (e *engine) freeze(id, h int32, rate int64) {
	f := &e.flows[id]
	e.solver.frozen++
	f.next = h
	if e.trimming {
		e.resend(id, rate)
	}
	for _, u := range e.path(id) {
		g := &e.resources[u.resource]
		g.left -= rate
		g.open--
		g.most = rate
		if e.trims(u.resource) {
			e.solver.stages[u.resource].weights -= e.weight(id)
		}
	}
	if e.trims(h) {
		e.solver.fair = extend(e.solver.fair, id)
		e.solver.fair[id] = rate
	}
}

// widen enlists the flows that make the solution unfair: flows faster than the enlisted
// flows that one of their resources limits, and flows whose limiting resource has room for
// a higher rate. It reports whether it found any.
func (e *engine) widen() bool {
	s := &e.solver
	before := len(s.flows)
	for _, h := range s.links {
		r := &e.resources[h]
		n := int64(len(r.flows))
		if n == int64(r.members) {
			continue
		}
		// Shares are rounded down, so a full resource may have some bits left.
		full := r.left <= n
		for _, ref := range r.flows {
			f := &e.flows[ref>>hopBits]
			if f.mark == s.epoch {
				continue
			}
			slack := n + f.rate>>20
			faster := r.level != math.MaxInt64 && f.rate > r.level+slack
			slower := f.limit == h && (!full || r.most > f.rate+slack)
			if faster || slower {
				e.enlist(ref >> hopBits)
			}
		}
	}
	e.reach(before)
	return len(s.flows) > before
}

// connect enlists every flow that shares a resource with an enlisted one,
// directly or through others.
func (e *engine) connect() {
	s := &e.solver
	for i := 0; i < len(s.links); i++ {
		before := len(s.flows)
		for _, ref := range e.resources[s.links[i]].flows {
			if e.flows[ref>>hopBits].mark != s.epoch {
				e.enlist(ref >> hopBits)
			}
		}
		e.reach(before)
	}
}

// idleLimit reports whether the resource has only one flow, and that flow cannot fill it,
// because another of its resources has no more capacity left and is shared. Most resources
// of a large component are idle in this sense.
func (e *engine) idleLimit(r *resource) bool {
	if len(r.flows) > 1 {
		return false
	}
	for _, u := range e.path(r.flows[0] >> hopBits) {
		if g := &e.resources[u.resource]; len(g.flows) > 1 && g.left <= r.left {
			return true
		}
	}
	return false
}
