package engine

import "math"

// component is a set of flows whose rates were shared out together. Its settle
// event is due when the first of them is drained, and frees it.
type component struct {
	flows []int32
	live  int32 // flows that have not gone on to another component
}

// solver shares out rates. Its slices are kept from one solution to the next.
type solver struct {
	epoch uint32
	seeds []int32
	flows []int32 // of the component being gathered
	links []int32 // resources of that component
	heap  []share
}

// share is what each flow of a resource gets that has no rate yet.
type share struct {
	rate     int64
	resource int32
}

// await notes that a started flow needs a rate. The flows of one instant are
// served together; in a crowd, those of a little longer.
func (e *engine) await(id int32) {
	f := &e.flows[id]
	e.pending = append(e.pending, id)
	crowd := 0
	for _, h := range f.path[:f.hops] {
		r := &e.resources[h]
		crowd = max(crowd, len(r.flows))
		if c := e.flows[r.flows[0]>>3].component; c >= 0 {
			crowd = max(crowd, int(e.components[c].live))
		}
	}
	at := e.now + patience(e.ranks[f.from].route.solo, crowd)
	if len(e.pending) == 1 || at < e.admitAt {
		e.admitAt = at
		e.queue.push(at, admit, 0, 0)
	}
}

// patience is how long a change of rates may wait for others, so that large
// components are not solved anew for each of thousands of flows: nothing in
// small ones, and a small part of the flow's own time in large ones. A real
// transport takes a round trip to claim what another one left. It moves the
// end of a 512-rank halving-doubling allReduce by 0.3 %, that of interleaved
// allToAlls not at all.
func patience(duration int64, flows int) int64 {
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
	s := &e.solver
	s.seeds = s.seeds[:0]
	for _, id := range e.pending {
		// A neighbour's settling may have served it meanwhile.
		if e.flows[id].component == awaiting {
			s.seeds = append(s.seeds, id)
		}
	}
	e.pending = e.pending[:0]
	e.solve()
}

// settleComponent shares out what the component's drained flows have left.
func (e *engine) settleComponent(c int32) {
	s := &e.solver
	s.seeds = s.seeds[:0]
	for _, id := range e.components[c].flows {
		f := &e.flows[id]
		if f.component != c || !f.attached {
			continue
		}
		if f.drain <= e.now {
			e.detach(id)
		} else {
			f.component = alone
			s.seeds = append(s.seeds, id)
		}
	}
	e.components[c].flows = e.components[c].flows[:0]
	e.components[c].live = 0
	e.solve()
	e.freeComponents = append(e.freeComponents, c)
}

// leave takes a flow out of its component. The memory of one that is empty
// before its time is not kept waiting for its event.
func (e *engine) leave(f *flow) {
	c := &e.components[f.component]
	if c.live--; c.live == 0 {
		c.flows = nil
	}
	f.component = alone
}

// solve finds the components around the seeds and shares out their rates.
func (e *engine) solve() {
	s := &e.solver
	s.epoch++
	for _, seed := range s.seeds {
		if e.flows[seed].mark != s.epoch {
			e.gather(seed)
			e.fill()
			e.schedule()
		}
	}
}

// gather collects the flows that share resources with the seed, directly or
// through others, and the resources. Drained flows leave on the way.
func (e *engine) gather(seed int32) {
	s := &e.solver
	s.links = s.links[:0]
	e.flows[seed].mark = s.epoch
	s.flows = append(s.flows[:0], seed)
	for i := 0; i < len(s.flows); i++ {
		f := &e.flows[s.flows[i]]
		if f.component >= 0 {
			e.leave(f)
		}
		if f.rate > 0 {
			f.left = f.left.after(f.rate, e.now-f.since)
		}
		f.since = e.now
		f.frozen = false
		for _, h := range f.path[:f.hops] {
			r := &e.resources[h]
			if r.mark == s.epoch {
				continue
			}
			r.mark = s.epoch
			s.links = append(s.links, h)
			for j := 0; j < len(r.flows); {
				id := r.flows[j] >> 3
				g := &e.flows[id]
				switch {
				case g.mark == s.epoch:
				case g.rate > 0 && g.drain <= e.now:
					e.detach(id)
					continue
				default:
					g.mark = s.epoch
					s.flows = append(s.flows, id)
				}
				j++
			}
		}
	}
}

// fill raises all rates of the component together and stops those whose
// resource is full: max-min fairness. Shares are rounded down to whole bit/s.
func (e *engine) fill() {
	s := &e.solver
	for _, h := range s.links {
		r := &e.resources[h]
		r.left, r.open = r.rate, int32(len(r.flows))
	}
	if e.options.Routing == Spray {
		e.trim()
	}
	s.heap = s.heap[:0]
	for _, h := range s.links {
		if r := &e.resources[h]; !e.idleLimit(r) {
			s.push(share{r.left / int64(r.open), h})
		}
	}
	for frozen := 0; frozen < len(s.flows); {
		least := s.heap[0]
		r := &e.resources[least.resource]
		if r.open == 0 {
			s.pop()
			continue
		}
		// Other resources that filled up have only made this share larger.
		if now := r.left / int64(r.open); now > least.rate {
			s.heap[0].rate = now
			s.sink(0)
			continue
		}
		s.pop()
		rate := max(least.rate, 1)
		for _, ref := range r.flows {
			f := &e.flows[ref>>3]
			if f.frozen {
				continue
			}
			f.frozen = true
			frozen++
			e.setRate(f, rate)
			for _, h := range f.path[:f.hops] {
				e.resources[h].left -= rate
				e.resources[h].open--
			}
		}
	}
}

// idleLimit reports whether the resource has one flow only, which shares a
// resource that is no faster with others and so can never fill this one. In a
// large component most resources are like that.
func (e *engine) idleLimit(r *resource) bool {
	if r.open > 1 {
		return false
	}
	f := &e.flows[r.flows[0]>>3]
	for _, h := range f.path[:f.hops] {
		if g := &e.resources[h]; g.open > 1 && g.left <= r.left {
			return true
		}
	}
	return false
}

// trim takes from overloaded stages what their own overload costs. Transports
// that spray let switches cut packets down to headers instead of dropping them
// (NDP, Ultra Ethernet); hosts go on offering what their NICs can carry, so a
// stage offered k times its rate carries, for each packet, k-1 headers and as
// many negative acknowledgements.
func (e *engine) trim() {
	s := &e.solver
	for _, h := range s.links {
		e.resources[h].offered = 0
	}
	for _, id := range s.flows {
		f := &e.flows[id]
		first, last := &e.resources[f.path[0]], &e.resources[f.path[f.hops-1]]
		offer := min(first.rate/int64(first.open), last.rate/int64(last.open))
		for _, h := range f.path[1 : f.hops-1] {
			e.resources[h].offered += offer
		}
	}
	p := e.options.Packet
	packet, control := uint64(p.MSS+p.Header+p.Ack), uint64(p.Header+p.Ack)
	for _, h := range s.links {
		r := &e.resources[h]
		if over := r.offered - r.rate; over > 0 {
			cost := mulDiv(uint64(over), control, uint64(r.rate)) // bytes a packet, over k-1
			r.left = int64(mulDiv(uint64(r.rate), packet, packet+cost))
		}
	}
}

// setRate gives the flow its new rate from now on. An acknowledgement that was
// scheduled at another rate becomes stale.
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

// schedule makes the gathered flows a component, with the acknowledgements of
// those that are drained before it is settled again.
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
	if len(s.flows) == 1 {
		id := s.flows[0]
		e.flows[id].component = alone
		if !e.flows[id].queued {
			e.acknowledgeAt(id)
		}
		return
	}
	horizon := first + patience(longest, len(s.flows))
	c := e.newComponent()
	e.components[c].flows = append(e.components[c].flows, s.flows...)
	e.components[c].live = int32(len(s.flows))
	for _, id := range s.flows {
		f := &e.flows[id]
		f.component = c
		if f.drain <= horizon && !f.queued {
			e.acknowledgeAt(id)
		}
	}
	e.queue.push(horizon, settle, c, 0)
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
