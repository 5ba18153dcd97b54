package engine_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"netsim/simulator/collective"
	"netsim/simulator/engine"
	"netsim/simulator/topology"
)

const gbps = 1_000_000_000

// oneSwitch returns a rack of hosts with one link each to one switch.
func oneSwitch(t testing.TB, hosts int, rate, delay int64) *topology.Fabric {
	t.Helper()
	server := topology.Server{Component: "server", NICs: []topology.NIC{{Component: "nic", Rate: rate, Delay: delay}}}
	rack := topology.Rack{Switches: []topology.Switch{{Component: "switch", DownRate: rate}}}
	for range hosts {
		rack.Servers = append(rack.Servers, server)
	}
	f, err := topology.Build(topology.Layout{Racks: []topology.Rack{rack}})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// leafSpine returns the fabric of the packet-level reference: 8 hosts on each leaf,
// links of 400 Gb/s and 500 ns.
func leafSpine(t testing.TB, hosts, oversubscription int) *topology.Fabric {
	t.Helper()
	return uniform(t, hosts, oversubscription, 400*gbps, 500_000)
}

func derived(t testing.TB, radix, ratio string, ranks int) *topology.Fabric {
	t.Helper()
	d, err := topology.Derive(topology.Constraints{SwitchRadix: radix, SubscriptionRatio: ratio}, ranks)
	if err != nil {
		t.Fatal(err)
	}
	f, err := topology.Build(d.Layout())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func workload(t testing.TB, ranks int, phases ...collective.Phase) []collective.GroupSpec {
	t.Helper()
	groups, err := collective.Resolve(&collective.Workload{Ranks: ranks, Phases: phases}, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	return groups
}

func phase(operation, algorithm string, size int64) collective.Phase {
	return collective.Phase{OperationType: operation, Algorithm: algorithm, DataSize: size}
}

func run(t testing.TB, in engine.Input, o engine.Observer) *engine.Result {
	t.Helper()
	r, err := engine.Run(t.Context(), in, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestClosedForms: on one switch with links of 400 Gb/s and 500 ns, collectives take
// the time of their closed form. A packet of 4,000 B without headers and
// acknowledgements takes 80 ns.
func TestClosedForms(t *testing.T) {
	t.Parallel()
	const (
		packet  = 80_000    // ps
		latency = 2_000_000 // there and back
		hop     = packet    // store-and-forward at the switch
	)
	for _, c := range []struct {
		phase collective.Phase
		want  int64
	}{
		{phase("allReduce", "ring", 64_000), 14 * (2*packet + latency + hop)},
		{phase("allGather", "ring", 8_000), 7 * (2*packet + latency + hop)},
		{phase("reduceScatter", "ring", 64_000), 7 * (2*packet + latency + hop)},
		{phase("reduceScatter", "halving", 64_000), (8+4+2)*packet + 3*(latency+hop)},
		{phase("allReduce", "recursiveHalvingDoubling", 64_000), 2 * ((8+4+2)*packet + 3*(latency+hop))},
		{phase("allToAll", "interleaved", 64_000), 7*2*packet + latency + hop},
		{phase("allToAll", "sequential", 64_000), 7 * (2*packet + latency + hop)},
		{phase("broadcast", "interleaved", 8_000), 7*2*packet + latency + hop},
		{phase("broadcast", "sequential", 8_000), 7 * (2*packet + latency + hop)},
		{phase("scatter", "direct", 64_000), 7*2*packet + latency + hop},
	} {
		for _, routing := range []engine.Routing{engine.ECMP, engine.Spray} {
			r := run(t, engine.Input{
				Fabric: oneSwitch(t, 8, 400*gbps, 500_000), Groups: workload(t, 8, c.phase),
				Options: engine.Options{Routing: routing, NICs: []engine.NIC{{Packet: engine.Packet{MSS: 4000}}}},
			}, engine.Observer{})
			// Sharing a link rounds rates down to whole bit/s.
			if d := r.Time - c.want; d < 0 || d > 10 {
				t.Errorf("%s %s takes %d ps, want %d", c.phase.OperationType, c.phase.Algorithm, r.Time, c.want)
			}
			if r.End != engine.Finished || len(r.Unfinished) > 0 {
				t.Errorf("%s ends %v with %d unfinished ranks, want %v with none", c.phase.OperationType, r.End, len(r.Unfinished), engine.Finished)
			}
		}
	}
}

// TestPhasesAndGroups: the phases of a group run one after another, and groups run side
// by side.
func TestPhasesAndGroups(t *testing.T) {
	t.Parallel()
	runGroups := func(groups ...collective.GroupSpec) *engine.Result {
		resolved, err := collective.Resolve(nil, groups, true)
		if err != nil {
			t.Fatal(err)
		}
		return run(t, engine.Input{Fabric: oneSwitch(t, 9, 400*gbps, 500_000), Groups: resolved}, engine.Observer{})
	}
	one := phase("allReduce", "ring", 1<<20)
	alone := runGroups(collective.GroupSpec{Count: 1, GroupSize: 4, Phases: []collective.Phase{one}})
	twice := runGroups(collective.GroupSpec{Count: 1, GroupSize: 4, Phases: []collective.Phase{one, one}})
	both := runGroups(collective.GroupSpec{Count: 2, GroupSize: 4, Phases: []collective.Phase{one}},
		collective.GroupSpec{Count: 1, GroupSize: 1, Phases: []collective.Phase{one}})
	if twice.Time != 2*alone.Time {
		t.Errorf("two phases take %d ps, want twice the %d ps of one", twice.Time, alone.Time)
	}
	if both.Time != alone.Time || both.Ranks != 9 || both.Collectives != 3 {
		t.Errorf("three groups take %d ps with %d ranks and %d collectives, want %d ps, 9 and 3", both.Time, both.Ranks, both.Collectives, alone.Time)
	}
}

// TestNothingToSimulate: a group of one rank sends nothing and finishes at once.
func TestNothingToSimulate(t *testing.T) {
	t.Parallel()
	result, err := engine.Run(t.Context(), engine.Input{
		Fabric: oneSwitch(t, 2, gbps, 1), Groups: workload(t, 1, phase("allReduce", "", 1), phase("allToAll", "", 8)),
	}, engine.Observer{})
	if err != nil {
		t.Fatal(err)
	}
	if result.End != engine.Finished || result.Time != 0 || result.Ranks != 1 || len(result.Unfinished) != 0 || result.SendsTotal != 0 {
		t.Errorf("a group of one rank ends with %+v, want it finished at 0 ps without sends", result)
	}
}

// TestRefusals: inputs that cannot run and errors of the observer are returned.
func TestRefusals(t *testing.T) {
	t.Parallel()
	stop := errors.New("disk full")
	for _, c := range []struct {
		when    string
		in      engine.Input
		observe engine.Observer
		want    string
	}{
		{
			when: "too few servers",
			in:   engine.Input{Fabric: oneSwitch(t, 2, gbps, 1), Groups: workload(t, 4, phase("allReduce", "", 1))},
			want: "4 ranks exceed the 2 servers of the fabric",
		},
		{
			when: "too many flows",
			in: engine.Input{
				Fabric: oneSwitch(t, 8, gbps, 1), Groups: workload(t, 8, phase("allToAll", "", 1)),
				Options: engine.Options{MaxFlows: 55},
			},
			want: "more than 55 transfers would be in flight at once",
		},
		{
			when:    "an observer's error",
			in:      engine.Input{Fabric: oneSwitch(t, 8, gbps, 1), Groups: workload(t, 8, phase("allToAll", "", 1))},
			observe: engine.Observer{Transfer: func(*engine.Transfer) error { return stop }},
			want:    "disk full",
		},
	} {
		_, err := engine.Run(t.Context(), c.in, c.observe)
		if fmt.Sprint(err) != c.want {
			t.Errorf("%s: got error %v, want %s", c.when, err, c.want)
		}
	}
}

// TestLimit: a run that reaches its limit ends without an error and reports the
// unfinished ranks and collectives.
func TestLimit(t *testing.T) {
	t.Parallel()
	var unfinished []string
	var ranks int
	in := engine.Input{
		Fabric: oneSwitch(t, 8, 400*gbps, 500_000),
		Groups: workload(t, 8, phase("allReduce", "", 1<<20), phase("allGather", "", 1<<20)),
	}
	whole := run(t, in, engine.Observer{})
	in.Options.Limit = whole.Time / 2
	r := run(t, in, engine.Observer{
		Collective: func(c *engine.Collective) error {
			if !c.Finished {
				unfinished = append(unfinished, c.OperationType)
			}
			return nil
		},
		Rank: func(r *engine.Rank) error {
			if !r.Finished {
				ranks++
			}
			return nil
		},
	})
	if r.End != engine.Limited || r.Time != in.Options.Limit || len(r.Unfinished) != 8 || ranks != 8 {
		t.Errorf("ends %v at %d ps with %d unfinished ranks, %d of them reported; want %v at %d with 8", r.End, r.Time, len(r.Unfinished), ranks, engine.Limited, in.Options.Limit)
	}
	if strings.Join(unfinished, " ") != "allGather" || r.LastCollective != "allReduce 0 of group 0" {
		t.Errorf("unfinished collectives %v, last finished %s; want allGather and allReduce 0 of group 0", unfinished, r.LastCollective)
	}
	if r.Bytes == 0 || r.Bytes >= whole.Bytes {
		t.Errorf("%d bytes are acknowledged, want some but not all %d", r.Bytes, whole.Bytes)
	}
}

// TestEnough: a run continues after ErrEnough without reporting transfers.
func TestEnough(t *testing.T) {
	t.Parallel()
	in := engine.Input{Fabric: oneSwitch(t, 8, 400*gbps, 500_000), Groups: workload(t, 8, phase("allReduce", "", 1<<20))}
	whole, calls := run(t, in, engine.Observer{}), 0
	r := run(t, in, engine.Observer{Transfer: func(*engine.Transfer) error {
		if calls++; calls == 3 {
			return fmt.Errorf("reported three: %w", engine.ErrEnough)
		}
		return nil
	}})
	if calls != 3 || r.Progress != whole.Progress {
		t.Errorf("%d transfers are reported and the run has %+v, want 3 and %+v", calls, r.Progress, whole.Progress)
	}
}

// TestSynchronize: with Synchronize, each phase takes as long as it takes alone.
// Without it, ranks begin a phase at different times, and most links of a ring are
// idle.
func TestSynchronize(t *testing.T) {
	t.Parallel()
	fabric := derived(t, "128x400G", "1:1", 128)
	var phases []collective.Phase
	var alone int64
	for i := range 6 {
		p := phase("allReduce", "", int64(i+1)<<20)
		phases = append(phases, p)
		alone += run(t, engine.Input{Fabric: fabric, Groups: workload(t, 128, p)}, engine.Observer{}).Time
	}
	in := engine.Input{Fabric: fabric, Groups: workload(t, 128, phases...), Synchronize: true}
	ended := 0
	r := run(t, in, engine.Observer{Collective: func(c *engine.Collective) error {
		if ended++; c.Finished && c.End-c.Start > 2*c.Ideal+200_000_000 {
			t.Errorf("collective %d takes %d ps, want at most 200 us above twice the ideal %d", c.ID, c.End-c.Start, c.Ideal)
		}
		return nil
	}})
	if r.Time != alone || r.End != engine.Finished || ended != len(phases) {
		t.Errorf("%d collectives take %d ps, want %d in the %d ps of single runs", ended, r.Time, len(phases), alone)
	}
}

// TestStop: a run whose context is cancelled returns its partial result.
func TestStop(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	in := engine.Input{
		Fabric: oneSwitch(t, 8, 400*gbps, 500_000), Groups: workload(t, 8, phase("allReduce", "", 1<<20)),
		Options: engine.Options{ProgressEvents: 10},
	}
	r, err := engine.Run(ctx, in, engine.Observer{Progress: func(p *engine.Progress) error {
		if p.Events > 50 {
			cancel()
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if r.End != engine.Stopped || r.Sends == 0 || r.Sends == r.SendsTotal || len(r.Unfinished) != 8 {
		t.Errorf("ends %v after %d of %d sends with %d unfinished ranks, want %v after some with 8", r.End, r.Sends, r.SendsTotal, len(r.Unfinished), engine.Stopped)
	}
}

// TestStopAfter: a stopped run can be repeated with StopAfter, the number of its
// events.
func TestStopAfter(t *testing.T) {
	t.Parallel()
	in := engine.Input{
		Fabric: oneSwitch(t, 8, 400*gbps, 500_000), Groups: workload(t, 8, phase("allReduce", "", 1<<20)),
		Options: engine.Options{ProgressEvents: 10},
	}
	ctx, cancel := context.WithCancel(t.Context())
	stopped, err := engine.Run(ctx, in, engine.Observer{Progress: func(p *engine.Progress) error {
		if p.Events > 50 {
			cancel()
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	in.Options.ProgressEvents, in.Options.StopAfter = 0, stopped.Events
	if again := run(t, in, engine.Observer{}); !reflect.DeepEqual(again, stopped) {
		t.Errorf("the repeated run ends with %+v, want %+v", again, stopped)
	}
}

// TestStopBetweenReports: a run also checks its context at each report, because there
// may be many reports between two events. A run that stops there can be repeated with
// StopAfter and StopReports.
func TestStopBetweenReports(t *testing.T) {
	t.Parallel()
	in := engine.Input{
		Fabric: oneSwitch(t, 8, 400*gbps, 500_000), Groups: workload(t, 8, phase("broadcast", "", 1<<30)),
		Options: engine.Options{Interval: 1_000_000, Beacon: 1_500_000},
	}
	collectReports := func(reports *[]engine.Links, then func()) engine.Observer {
		return engine.Observer{Beacon: func(*engine.Progress) error { return nil }, Links: func(l *engine.Links) error {
			*reports = append(*reports, engine.Links{Start: l.Start, End: l.End, Bits: slices.Clone(l.Bits)})
			then()
			return nil
		}}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var first, second []engine.Links
	var last engine.Progress
	o := collectReports(&first, func() {
		if len(first) == 5 {
			cancel()
		}
	})
	o.Progress = func(p *engine.Progress) error {
		if p.Time > 0 && p.Time == last.Time && p.Events == last.Events && ctx.Err() == nil {
			t.Errorf("the progress at %d ps is reported twice", p.Time)
		}
		last = *p
		return nil
	}
	stopped, err := engine.Run(ctx, in, o)
	if err != nil || stopped.End != engine.Stopped || stopped.Time != 5_000_000 || last.Time != stopped.Time {
		t.Fatalf("got %+v, %v after %d reports, the last progress at %d ps; want the run stopped at 5,000,000 ps", stopped, err, len(first), last.Time)
	}
	in.Options.StopAfter, in.Options.StopReports = stopped.Events, stopped.Reports
	again := run(t, in, collectReports(&second, func() {}))
	if !reflect.DeepEqual(again, stopped) || !reflect.DeepEqual(first, second) {
		t.Errorf("the repeated run ends with %+v and %d reports, want %+v and %d equal ones", again, len(second), stopped, len(first))
	}
}

// TestMaxReports: the interval doubles after every MaxReports reports, and the reports
// still cover the run without a gap.
func TestMaxReports(t *testing.T) {
	t.Parallel()
	var spans []int64
	var end int64
	r := run(t, engine.Input{
		Fabric: oneSwitch(t, 8, 400*gbps, 500_000), Groups: workload(t, 8, phase("allReduce", "", 1<<20)),
		Options: engine.Options{Interval: 1_000_000, MaxReports: 2},
	}, engine.Observer{Links: func(l *engine.Links) error {
		if l.Start != end {
			t.Errorf("a report starts at %d ps, want %d, the end of the previous report", l.Start, end)
		}
		spans, end = append(spans, (l.End-l.Start)/1_000_000), l.End
		return nil
	}})
	if end != r.Time || !slices.Equal(spans[:6], []int64{1, 1, 2, 2, 4, 4}) {
		t.Errorf("reports of %v us to %d ps, want 1 1 2 2 4 4 … to %d ps", spans, end, r.Time)
	}
}
