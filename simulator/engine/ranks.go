package engine

import (
	"fmt"
	"slices"

	"netsim/simulator/collective"
	"netsim/simulator/schedule"
)

// group is a set of consecutive ranks that run the same phases.
type group struct {
	first   int32 // rank
	plans   []collective.Plan
	firstID int64 // collective id of its first phase
	ideal   []int64
	open    []phase // phases that some rank has begun and not all have ended
	base    int32   // number of the first phase in open
}

// phase is the progress of one collective.
type phase struct {
	start int64 // when the last rank to start made its first send, ps
	begun bool
	ended int32 // number of ranks
}

// rank is the state of one rank in the phases of its group.
//
// It takes four cache lines. A ring visits the first two.
type rank struct {
	done Rank // totals for the observer

	group int32
	local int32 // number inside the group
	phase int32

	sent, acked, received int32  // transfers of this phase
	steps                 uint64 // received steps of an exchange, a bit each
	route                 route

	early    []early
	leaving  []int32 // see leavingOf
	finished bool
	_        [23]byte
}

// early is a receive in a phase that the rank has not begun.
type early struct{ phase, step int32 }

func (e *engine) addGroups(specs []collective.GroupSpec, hosts []int32) error {
	p := &e.progress
	if err := e.placeRanks(collective.Ranks(specs), hosts); err != nil || len(specs) == 0 {
		return err
	}
	var id int64
	for _, spec := range specs {
		plans := make([]collective.Plan, len(spec.Phases))
		for i, ph := range spec.Phases {
			plans[i] = collective.NewPlan(ph, spec.GroupSize)
		}
		for range spec.Count {
			g := group{first: int32(len(e.ranks)), plans: plans, firstID: id}
			id += int64(len(plans))
			for local := range spec.GroupSize {
				e.ranks = append(e.ranks, rank{
					group: int32(len(e.groups)), local: int32(local), phase: -1,
					route: route{to: none}, done: Rank{Rank: int32(len(e.ranks))},
				})
			}
			for i := range plans {
				plan := &plans[i]
				p.SendsTotal += plan.Transfers()
				p.BytesTotal = schedule.Sum(p.BytesTotal, plan.TotalBytes())
			}
			p.CollectivesTotal += len(plans)
			e.groups = append(e.groups, g)
		}
	}
	p.RanksTotal = len(e.ranks)
	if n := MostFlows(specs); n > int64(e.options.MaxFlows) {
		return tooManyFlows(e.options.MaxFlows)
	}
	return nil
}

// placeRanks sets the hosts of n ranks: the first n if hosts is nil.
func (e *engine) placeRanks(n int, hosts []int32) error {
	if hosts == nil {
		hosts = make([]int32, len(e.fabric.Hosts))
		for i := range hosts {
			hosts[i] = int32(i)
		}
	}
	if n > len(hosts) {
		return fmt.Errorf("%d ranks exceed the %d servers of the fabric", n, len(hosts))
	}
	e.setHosts(hosts[:n])
	return nil
}

// setHosts sets the host of each rank.
func (e *engine) setHosts(hosts []int32) {
	e.hosts = hosts
	for _, h := range hosts {
		if len(e.fabric.Hosts[h].NICs) > 1 {
			e.striped = true
		}
	}
}

// MostFlows returns how many transfers start at once if every group begins its largest
// phase of order Burst. It does not count phases of other orders. The groups must be
// resolved.
func MostFlows(specs []collective.GroupSpec) int64 {
	var total int64
	for _, spec := range specs {
		most := int64(0)
		for _, ph := range spec.Phases {
			if plan := collective.NewPlan(ph, spec.GroupSize); plan.Order == collective.Burst {
				most = max(most, plan.Transfers())
			}
		}
		total += int64(spec.Count) * most
	}
	return total
}

// begin starts the first phase of every rank.
func (e *engine) begin() {
	switch {
	case e.replay.Schedule != nil:
		e.beginReplay()
	case len(e.groups) == 0:
		e.beginTraffic()
	default:
		e.reserve()
		for i := range e.ranks {
			e.next(int32(i))
		}
	}
}

// reserve allocates room for the transfers that start at once.
func (e *engine) reserve() {
	flows := len(e.ranks)
	for i := range e.groups {
		if first := &e.groups[i].plans[0]; first.Order == collective.Burst {
			flows += int(first.Transfers())
			e.crowd = max(e.crowd, first.Sends(0)*9/8) // hashing does not divide flows evenly
		}
	}
	flows = min(flows, e.options.MaxFlows)
	e.flows = slices.Grow(e.flows, flows)
	e.hops = slices.Grow(e.hops, flows*e.stride)
	for _, list := range []*[]int32{&e.pending, &e.freeFlows, &e.solver.flows} {
		*list = slices.Grow(*list, flows)
	}
	e.queue.nodes = slices.Grow(e.queue.nodes, flows)
}

// next starts the rank's next phase in which it has transfers, and the sends that
// wait for nothing.
func (e *engine) next(id int32) {
	r := &e.ranks[id]
	g := &e.groups[r.group]
	for {
		r.phase++
		if int(r.phase) == len(g.plans) {
			r.finished = true
			e.progress.Ranks++
			e.reportRank(id)
			return
		}
		for int(r.phase-g.base) >= len(g.open) {
			g.open = append(g.open, phase{})
		}
		r.sent, r.acked, r.received, r.steps = 0, 0, 0, 0
		plan := &g.plans[r.phase]
		if sends := plan.Sends(int(r.local)); sends > 0 {
			e.mark(g, r.phase)
			first := 1
			if plan.Order == collective.Burst {
				first = sends
			}
			for range first {
				e.sendNext(id, r, plan)
			}
		}
		e.takeEarly(id)
		if !e.ended(r, plan) || !e.endPhase(id) {
			return
		}
	}
}

// mark records that a rank makes its first send of the phase.
func (e *engine) mark(g *group, index int32) {
	ph := &g.open[index-g.base]
	ph.start, ph.begun = e.now, true
}

// sendNext starts the rank's next send of its phase, which has the plan.
func (e *engine) sendNext(id int32, r *rank, plan *collective.Plan) {
	step := r.sent
	r.sent++
	to, bytes := plan.Send(int(r.local), int(step))
	first := id - r.local
	e.send(&transfer{from: id, to: first + int32(to), phase: r.phase, step: step, bytes: bytes})
}

// received counts an acknowledged transfer for both of its ranks and starts the
// sends that it releases.
func (e *engine) received(f *transfer, packets int64) {
	from, to := &e.ranks[f.from], &e.ranks[f.to]
	e.count(f, &from.done, &to.done, packets)
	if e.replay.Schedule != nil {
		e.arrived(f)
		return
	}
	if to.group == none {
		e.delivered(f)
		return
	}
	plan := &e.groups[to.group].plans[f.phase]
	if to.phase == f.phase {
		e.accept(f.to, to, plan, f.step)
	} else {
		to.early = append(to.early, early{f.phase, f.step})
	}
	from.acked++
	if plan.Order == collective.Turn && int(from.sent) < plan.Sends(int(from.local)) {
		e.sendNext(f.from, from, plan)
	}
	// A rank ends a phase only after its own sends are acknowledged, so the sender
	// is still in the transfer's phase.
	if e.ended(from, plan) {
		e.advance(f.from)
	}
	if to.phase == f.phase && e.ended(to, plan) {
		e.advance(f.to)
	}
}

// accept counts a receive of the current phase and starts the sends that it releases.
func (e *engine) accept(id int32, r *rank, plan *collective.Plan, step int32) {
	r.received++
	switch plan.Order {
	case collective.Chain:
		if int(r.sent) < plan.Sends(int(r.local)) && !(e.ordered && e.waits(id, plan)) {
			e.sendNext(id, r, plan)
		}
	case collective.Exchange:
		r.steps |= 1 << step
		e.sendReleased(id, plan)
	}
}

// takeEarly accepts the receives of this phase that came before the rank began it.
func (e *engine) takeEarly(id int32) {
	r := &e.ranks[id]
	if len(r.early) == 0 {
		return
	}
	plan := &e.groups[r.group].plans[r.phase]
	for _, m := range r.early {
		if m.phase == r.phase {
			e.accept(id, r, plan, m.step)
		}
	}
	r.early = slices.DeleteFunc(r.early, func(m early) bool { return m.phase == r.phase })
}

func (e *engine) ended(r *rank, plan *collective.Plan) bool {
	return int(r.acked) == plan.Sends(int(r.local)) && int(r.received) == plan.Receives(int(r.local))
}

// advance ends the rank's phase and starts its next one.
func (e *engine) advance(id int32) {
	if e.endPhase(id) {
		e.next(id)
	}
}

// endPhase ends the rank's part in its phase; the last rank finishes the collective.
// It reports whether the rank may start its next phase alone: if ranks begin
// together, the last one starts the phase for all of them.
func (e *engine) endPhase(id int32) bool {
	r := &e.ranks[id]
	g := &e.groups[r.group]
	alone := !e.input.Synchronize || int(r.phase) == len(g.plans)-1
	ph := &g.open[r.phase-g.base]
	n := g.plans[r.phase].N
	if ph.ended++; int(ph.ended) < n {
		return alone
	}
	c := e.collective(r.group, r.phase)
	e.progress.Collectives++
	e.progress.LastCollective = fmt.Sprintf("%s %d of group %d", c.OperationType, c.ID, c.Group)
	if e.observe.Collective != nil {
		e.fail(e.observe.Collective(&c))
	}
	for len(g.open) > 0 && int(g.open[0].ended) == g.plans[g.base].N {
		g.open = g.open[1:]
		g.base++
	}
	if !alone {
		for local := range n {
			e.next(g.first + int32(local))
		}
	}
	return alone
}
