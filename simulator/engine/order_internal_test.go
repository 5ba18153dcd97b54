package engine

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"netsim/simulator/collective"
	"netsim/simulator/schedule"
	"netsim/simulator/topology"
)

// TestMergedWaitsAddUp: the critical path of messages that wait for the ones before accounts
// for the whole run also if its causes are merged early.
func TestMergedWaitsAddUp(t *testing.T) {
	t.Parallel()
	var rack topology.Rack
	rack.Switches = []topology.Switch{{Component: "switch", DownRate: 1e9}}
	for _, rate := range []int64{1e9, 1e9, 1e7, 1e9, 2e8, 1e9} {
		rack.Servers = append(rack.Servers, topology.Server{Component: "server", NICs: []topology.NIC{{Component: "nic", Rate: rate, Delay: 1000}}})
	}
	fabric, err := topology.Build(topology.Layout{Racks: []topology.Rack{rack}})
	if err != nil {
		t.Fatal(err)
	}
	groups, err := collective.Resolve(&collective.Workload{Ranks: 6, Phases: []collective.Phase{
		{OperationType: "allReduce", DataSize: 40_000}, {OperationType: "allGather", DataSize: 9000}, {OperationType: "allReduce", DataSize: 50_000},
	}}, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	e, err := newEngine(Input{Fabric: fabric, Groups: groups, Options: Options{CriticalPath: true}}, Observer{})
	if err != nil {
		t.Fatal(err)
	}
	e.causes.every, e.causes.keep = 16, 8
	e.open()
	if _, err := e.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	var sum, activities int64
	steps := e.criticalPath()
	for i := range steps {
		sum += steps[i].Time()
		activities += steps[i].Activities
	}
	if sum != e.now || int64(len(steps)) == activities {
		t.Errorf("%d steps of %d activities take %d ps, want fewer steps than activities and the %d ps of the run", len(steps), activities, sum, e.now)
	}
}

// TestPairsSendInTurn: on fabrics on which everything contends, at most one message of a pair
// and collective is being sent, and none waits for another reason than that.
func TestPairsSendInTurn(t *testing.T) {
	t.Parallel()
	waited := 0
	rapid.Check(t, func(rt *rapid.T) {
		in := Input{Fabric: narrow(t, rt), Options: Options{
			Routing: rapid.SampledFrom([]Routing{ECMP, Spray, Flowlet}).Draw(rt, "routing"), CriticalPath: true,
		}}
		in.Hosts = rapid.Permutation([]int32{0, 1, 2, 3, 4, 5, 6, 7}).Draw(rt, "hosts")
		if rapid.Bool().Draw(rt, "traces") {
			in.Replay = &Replay{Schedule: anyCollectives(t, rt)}
		} else {
			in.Groups = anyPhases(t, rt)
		}
		e, err := newEngine(in, Observer{})
		if err != nil {
			rt.Fatal(err)
		}
		e.open()
		for e.progress.Ranks < e.progress.RanksTotal && e.err == nil {
			if e.queue.idle() {
				rt.Fatalf("deadlock at %d ps", e.now)
			}
			time, k, ev := e.queue.pop()
			e.now = time
			e.handle(k, ev)
			if len(e.queue.heap) == 0 || e.queue.heap[0].time() > e.now { // the instant is over
				waited += e.checkTurns(rt)
			}
		}
		if e.err != nil {
			rt.Fatal(e.err)
		}
	})
	if waited == 0 {
		t.Error("no message ever waited")
	}
}

// checkTurns checks the state at the end of an instant, and returns how many ranks wait.
func (e *engine) checkTurns(rt *rapid.T) (waiting int) {
	type pair struct{ from, to, phase int32 }
	steps := map[pair]int32{}
	for i := range e.flows {
		f := &e.flows[i]
		if !f.attached || f.rate > 0 && f.drain <= e.now || e.leavingOf(f.from, f.phase) == nil {
			continue
		}
		p := pair{f.from, f.to, f.phase}
		if before, ok := steps[p]; ok && before != f.step {
			rt.Fatalf("at %d ps the steps %d and %d of %+v are sent at once", e.now, before, f.step, p)
		}
		steps[p] = f.step
	}
	check := func(p pair) {
		waiting++
		if _, ok := steps[p]; !ok {
			rt.Fatalf("at %d ps the next message of %+v waits for nothing", e.now, p)
		}
	}
	for i := range e.ranks {
		r := &e.ranks[i]
		if r.group == none || r.finished {
			continue
		}
		g := &e.groups[r.group]
		plan := &g.plans[r.phase]
		if int(r.sent) < plan.Sends(int(r.local)) && plan.Released(r.sent, r.received, r.acked, r.steps) {
			to, _ := plan.Send(int(r.local), int(r.sent))
			check(pair{int32(i), g.first + int32(to), r.phase})
		}
	}
	for id, ep := range e.replay.episodes {
		if ep == nil {
			continue
		}
		plan, members := e.planOf(int32(id)), e.replay.Groups[e.replay.Collectives[id].Group].Members
		for at := range ep.members {
			m := &ep.members[at]
			if m.active && int(m.sent) < plan.Sends(at) && plan.Released(m.sent, m.received, m.acked, m.steps) {
				to, _ := plan.Send(at, int(m.sent))
				check(pair{members[at], members[to], int32(id)})
			}
		}
	}
	return waiting
}

// narrow draws two racks of four servers whose links to the spine are shared, with one NIC or
// two of different rates.
func narrow(t *testing.T, rt *rapid.T) *topology.Fabric {
	pod := topology.Pod{Switches: []topology.Switch{{Component: "spine", DownRate: 1e8}, {Component: "spine", DownRate: 1e8}}}
	two := rapid.Bool().Draw(rt, "two NICs")
	for range 2 {
		rack := topology.Rack{Switches: []topology.Switch{{Component: "leaf", UpLinks: 2, UpRate: 1e8, DownRate: 1e9, UpLinkDelay: 1000}}}
		for range 4 {
			s := topology.Server{Component: "server", NICs: []topology.NIC{
				{Component: "nic", Rate: rapid.SampledFrom([]int64{1e8, 3e8, 1e9}).Draw(rt, "rate"), Delay: 1000},
			}}
			if two {
				s.NICs = append(s.NICs, topology.NIC{Component: "slow", Rate: 2e8, Delay: 1000})
			}
			rack.Servers = append(rack.Servers, s)
		}
		pod.Racks = append(pod.Racks, rack)
	}
	f, err := topology.Build(topology.Layout{Pods: []topology.Pod{pod}})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// anyPhases draws the phases of two groups of four ranks.
func anyPhases(t *testing.T, rt *rapid.T) []collective.GroupSpec {
	spec := collective.GroupSpec{Count: 2, GroupSize: 4}
	for range rapid.IntRange(1, 4).Draw(rt, "phases") {
		entry := rapid.SampledFrom(collective.Matrix()).Draw(rt, "operation")
		spec.Phases = append(spec.Phases, collective.Phase{
			OperationType: entry.OperationType, Algorithm: rapid.SampledFrom(entry.AllowedAlgorithms).Draw(rt, "algorithm"),
			DataSize: rapid.Int64Range(1, 60_000).Draw(rt, "size"),
		})
	}
	groups, err := collective.Resolve(nil, []collective.GroupSpec{spec}, true)
	if err != nil {
		t.Fatal(err)
	}
	return groups
}

// anyCollectives draws collectives of eight ranks, each after a computation of the rank. They
// overlap.
func anyCollectives(t *testing.T, rt *rapid.T) *schedule.Schedule {
	p := &schedule.Schedule{Groups: []schedule.Group{{Members: []int32{0, 1, 2, 3, 4, 5, 6, 7}}}, Ranks: make([]schedule.Rank, 8)}
	for c := range rapid.IntRange(1, 3).Draw(rt, "collectives") {
		entry := rapid.SampledFrom(collective.Matrix()).Draw(rt, "operation")
		plan, err := schedule.NewPlan(entry.OperationType, rapid.SampledFrom(entry.AllowedAlgorithms).Draw(rt, "algorithm"), 30_000, 8)
		if err != nil {
			t.Fatal(err)
		}
		p.Plans, p.Collectives = append(p.Plans, plan), append(p.Collectives, schedule.Collective{Plan: int32(c)})
		for i := range p.Ranks {
			r := &p.Ranks[i]
			n := int32(len(r.Nodes))
			late := rapid.SampledFrom([]int64{0, 1, 1e8, 1e9, 1e10}).Draw(rt, fmt.Sprintf("late %d", i))
			r.Nodes = append(r.Nodes, schedule.Node{Op: schedule.Compute, Value: late}, schedule.Node{Op: schedule.Collect, Arg: int32(c), Waits: 1})
			r.First, r.Next = append(r.First, int32(c), int32(c)+1), append(r.Next, n+1)
			p.Computations++
		}
	}
	for i := range p.Ranks {
		p.Ranks[i].First = append(p.Ranks[i].First, int32(len(p.Collectives)))
	}
	return p
}
