package engine

import (
	"context"
	"fmt"

	"netsim/simulator/topology"
)

// engine is the state of one run: plain values in slices, referred to by index.
type engine struct {
	input       Input
	fingerprint string // of the input, computed on first use

	options Options
	observe Observer
	fabric  *topology.Fabric
	routes  *topology.Routes

	now      int64
	reportAt int64 // the number of events at which to report the progress
	queue    queue
	progress Progress
	err      error // returned by the observer or found during the run

	flows       []flow
	hops        []hop // stride entries for each flow
	stride      int
	crowd       int // how many flows a resource of a burst may have, a guess
	noHops      [maxPath]hop
	freeFlows   []int32
	stripes     []stripe
	freeStripes []int32
	stripeIDs   []int32 // by flow, if some ranks have several NICs: the striped transfer that it carries a part of, or 0
	waited      []int64 // by flow, of traffic: ps between its offer and its start
	owns        []own   // by flow that shares, if there is a critical path
	shapes      shapes

	resources  []resource
	hoppings   []hopping // by resource
	spreading  spreading
	trimming   bool    // switches trim packets that they cannot queue
	weighted   bool    // flows share a stage that trims by what they have in flight
	capacities []int32 // by node: the resource of its switching capacity, or none
	flowlets   flowlets
	turns      []uint32 // flowlet turns of the pair whose path is being found
	striped    bool     // some ranks have several NICs
	ordered    bool     // messages of one pair follow each other

	components     []component
	freeComponents []int32
	pending        []int32 // started flows without a rate
	freed          []int32 // resources that a flow has left while others remain
	admitAt        int64   // ps, when pending flows get their rates
	solver         solver

	groups  []group
	replay  replaying
	scaleUp scaleUp
	ranks   []rank
	hosts   []int32 // by rank
	traffic traffic
	cover   cover
	causes  causes

	links, beacons period

	// seen holds the arguments of Observer.Transfer, allocated once.
	seen struct {
		transfer   Transfer
		collective Collective
		known      bool // collective is a phase of a group
	}
}

// period schedules a periodic report.
type period struct {
	every int64 // ps
	count int64 // reports scheduled so far
}

// scheduleReport schedules the next report of the period, if reports are wanted.
func (e *engine) scheduleReport(p *period, k kind) {
	if p.every == 0 {
		return
	}
	if n := e.options.MaxReports; n > 0 && p.count > 0 && p.count%n == 0 {
		p.every *= 2
	}
	p.count++
	e.queue.push(e.now+p.every, k, 0, 0)
}

// reports returns how many periodic reports were made.
func (e *engine) reports() int64 { return e.links.made() + e.beacons.made() }

// made returns how many reports of the period were made; the last one scheduled is
// still due.
func (p *period) made() int64 { return max(p.count-1, 0) }

// eventsPerCheck is the most events between two checks for cancellation: some
// milliseconds of work.
const eventsPerCheck = 4096

// open schedules the first events of a run.
func (e *engine) open() {
	if e.observe.Links != nil {
		e.links.every = e.options.Interval
		e.scheduleReport(&e.links, report)
	}
	if e.observe.Beacon != nil {
		e.beacons.every = e.options.Beacon
		e.scheduleReport(&e.beacons, beacon)
	}
	if e.options.Start > 0 {
		e.queue.push(e.options.Start, start, 0, 0)
	} else {
		e.begin()
	}
}

// run handles events in order until every rank has finished, a limit is reached, the
// context ends or an error occurs. If ranks wait and no event is left, it returns a
// deadlock error.
func (e *engine) run(ctx context.Context) (End, error) {
	var checkAt int64 // the number of events at which to check ctx
	for e.err == nil {
		if e.progress.Ranks == e.progress.RanksTotal {
			return Finished, nil
		}
		if e.progress.Events >= checkAt {
			checkAt = e.progress.Events + min(e.options.ProgressEvents, eventsPerCheck)
			if ctx.Err() != nil {
				return Stopped, nil
			}
		}
		if n, m := e.options.StopAfter, e.options.StopReports; n+m > 0 && e.progress.Events >= n && e.reports() >= m {
			return Stopped, nil
		}
		if e.progress.Events >= e.reportAt {
			e.reportAt = e.progress.Events + e.options.ProgressEvents
			e.reportProgress()
			if e.err != nil {
				break
			}
		}
		if e.queue.idle() {
			return 0, fmt.Errorf("deadlock: %d of %d ranks wait and no event is left; %sthe last finished collective is %s",
				e.progress.RanksTotal-e.progress.Ranks, e.progress.RanksTotal, e.stuck(), orNone(e.progress.LastCollective))
		}
		time, kind, ev := e.queue.pop()
		if time > e.options.Limit {
			e.now = e.options.Limit
			return Limited, nil
		}
		e.now = time
		e.handle(kind, ev)
		if kind == report { // there may be many reports between two counted events
			checkAt, e.reportAt = 0, 0
		}
	}
	return 0, e.err
}

func (e *engine) handle(k kind, ev event) {
	switch k {
	case sent:
		if f := &e.flows[ev.id]; f.stamp == ev.stamp && f.followed {
			e.progress.Events++
			e.sent(ev.id)
		}
	case acked:
		if f := &e.flows[ev.id]; f.stamp == ev.stamp {
			e.progress.Events++
			e.acknowledge(ev.id, f)
		}
	case computed:
		e.progress.Events++
		e.computed(ev.id, ev.stamp)
	case settle:
		e.progress.Events++
		e.settleComponent(ev.id)
	case admit:
		// An earlier admit event may have served these flows already.
		if len(e.pending) > 0 && e.admitAt == e.now {
			e.progress.Events++
			e.settlePending()
		}
	case arrive:
		e.progress.Events++
		e.arrive(ev.id)
	case start:
		e.begin()
	case report:
		e.reportLinks()
		e.scheduleReport(&e.links, report)
	case beacon:
		e.progress.Time = e.now
		e.fail(e.observe.Beacon(&e.progress))
		e.scheduleReport(&e.beacons, beacon)
	}
}

func (e *engine) reportProgress() {
	e.progress.Time = e.now
	if e.observe.Progress != nil {
		e.fail(e.observe.Progress(&e.progress))
	}
	if e.observe.Snapshot != nil && e.err == nil {
		e.fail(e.observe.Snapshot(e.save))
	}
}

// finish reports unfinished ranks and collectives, and makes the last report of each kind.
func (e *engine) finish(end End) (*Result, error) {
	e.progress.Time = e.now
	r := &Result{End: end, Reports: e.reports()}
	if end != Finished {
		e.closeTraffic()
	}
	for i := range e.ranks {
		if !e.ranks[i].finished {
			r.Unfinished = append(r.Unfinished, int32(i))
			e.reportRank(int32(i))
		}
	}
	e.reportUnfinished()
	if e.observe.Links != nil && e.now > e.cover.start {
		e.reportLinks()
	}
	if e.observe.Beacon != nil {
		e.fail(e.observe.Beacon(&e.progress))
	}
	if e.observe.Progress != nil {
		e.fail(e.observe.Progress(&e.progress))
	}
	r.Progress = e.progress
	r.Limits = e.listLimits()
	r.Path = e.criticalPath()
	return r, e.err
}

func (e *engine) fail(err error) {
	if e.err == nil {
		e.err = err
	}
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
