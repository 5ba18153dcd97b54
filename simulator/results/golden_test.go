package results_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"netsim/simulator/chakra"
	"netsim/simulator/collective"
	"netsim/simulator/engine"
	"netsim/simulator/replay"
	"netsim/simulator/results"
	"netsim/simulator/schedule"
	"netsim/simulator/topology"
)

var learn = flag.Bool("learn", false, "rewrite the golden hashes")

// golden has a hash of the result files of each kind of run, in the format of
// sha256sum. The hashes are the same on every machine.
const golden = "testdata/golden.sha256"

// TestGolden: the result files have the same bytes on every machine and for every
// GOMAXPROCS. If a change of the model changes hashes, change engine.Version too,
// and rewrite the hashes with -learn. The test is not parallel because it sets
// GOMAXPROCS for the whole process.
func TestGolden(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var first string
	for _, procs := range []int{1, 2, 8} {
		runtime.GOMAXPROCS(procs)
		var all strings.Builder
		kinds := kinds(t)
		for _, kind := range slices.Sorted(maps.Keys(kinds)) {
			out, _ := recordInput(t, results.Config{Simulation: kind}, kinds[kind])
			fmt.Fprintf(&all, "%s  %s\n", out.hash(), kind)
		}
		if first == "" {
			first = all.String()
		}
		if all.String() != first {
			t.Errorf("with GOMAXPROCS %d:\n%swith 1:\n%s", procs, all.String(), first)
		}
	}
	if *learn {
		if err := os.WriteFile(golden, []byte(first), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || string(want) != first {
		t.Errorf("got the hashes\n%swant (%v)\n%s", first, err, want)
	}
}

// kinds returns an input for each kind of workload and of load balancing.
func kinds(t *testing.T) map[string]engine.Input {
	t.Helper()
	options := engine.Options{Interval: 50_000_000, Beacon: 100_000_000, Transport: engine.Lossless}
	groups := func(change func(*engine.Input)) engine.Input {
		in := engine.Input{Fabric: fabric(t, "64x800G", 64), Groups: everyOperation(t), Options: options}
		change(&in)
		return in
	}
	leaf, spine := "", ""
	for _, n := range fabric(t, "64x800G", 64).Nodes {
		switch n.Tier {
		case topology.TierRSW:
			leaf = n.Component
		case topology.TierFSW:
			spine = n.Component
		}
	}
	return map[string]engine.Input{
		"hashed":  groups(func(*engine.Input) {}),
		"sprayed": groups(func(in *engine.Input) { in.Options.Routing = engine.Spray }),
		"trimmed": groups(func(in *engine.Input) {
			in.Options.Routing, in.Options.Transport = engine.Spray, engine.Trimming
		}),
		"trimmed, hashed": groups(func(in *engine.Input) { in.Options.Transport = engine.Trimming }),
		"flowlets": groups(func(in *engine.Input) {
			in.Options.Switches = []engine.Switch{{Component: leaf, Routing: engine.Flowlet, Gap: 1_000_000}}
		}),
		"mixed": groups(func(in *engine.Input) {
			in.Options.Switches = []engine.Switch{{Component: leaf, Routing: engine.Spray}, {Component: spine, Hash: engine.Plain}}
		}),
		"striped":  groups(func(in *engine.Input) { in.Fabric = twoNICs(t) }),
		"replay":   {Fabric: fabric(t, "64x800G", 8), Replay: &engine.Replay{Schedule: ringTraces(t), Synchronize: true}, Options: options},
		"scale-up": scaledUp(t),
		"critical": groups(func(in *engine.Input) { in.Options.CriticalPath = true }),
		"traffic":  uncoordinated(t),
		"together": groups(func(in *engine.Input) { in.Synchronize = true }),
	}
}

// twoNICs returns two racks of 32 servers, each with a fast and a slow NIC.
func twoNICs(t *testing.T) *topology.Fabric {
	t.Helper()
	const gbps = 1_000_000_000
	server := topology.Server{Component: "server", NICs: []topology.NIC{
		{Component: "fast", Rate: 400 * gbps, Delay: 100_000}, {Component: "slow", Rate: 100 * gbps, Delay: 200_000},
	}}
	rack := topology.Rack{
		Switches: []topology.Switch{{Component: "leaf", UpLinks: 8, UpRate: 400 * gbps, DownRate: 400 * gbps, UpLinkDelay: 500_000}},
		Servers:  slices.Repeat([]topology.Server{server}, 32),
	}
	f, err := topology.Build(topology.Layout{Pods: []topology.Pod{{
		Switches: slices.Repeat([]topology.Switch{{Component: "spine", DownRate: 400 * gbps}}, 4), Racks: []topology.Rack{rack, rack},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// ringTraces returns ASTRA-sim's ring all-reduce among eight ranks.
func ringTraces(t *testing.T) *schedule.Schedule {
	t.Helper()
	b := replay.New(8, replay.Options{})
	for rank := range 8 {
		f, err := os.Open(fmt.Sprintf("../chakra/testdata/ring/custom_allreduce.%d.et.gz", rank))
		if err != nil {
			t.Fatal(err)
		}
		trace, err := chakra.NewReader(f, chakra.Limits{})
		if err == nil {
			err = b.Add(rank, trace)
		}
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
	}
	p, err := b.Schedule()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// scaledUp returns an input of ringTraces with half of the ranks in a scale-up group.
func scaledUp(t *testing.T) engine.Input {
	t.Helper()
	up := &engine.ScaleUp{
		Domains: []engine.Domain{{ID: 7, Rate: 3_600_000_000_000, SwitchHop: 250_000, Cable: 5_500}},
		Packet:  engine.Packet{MSS: 4096, Header: 24},
	}
	for rank := range 8 {
		up.Seats = append(up.Seats, engine.Seat{Domain: int32(min(rank/4, 1)) - 1, Subgroup: uint32(rank % 2)})
	}
	return engine.Input{
		Fabric: fabric(t, "64x800G", 8), Replay: &engine.Replay{Schedule: ringTraces(t), Synchronize: true}, ScaleUp: up,
		Options: engine.Options{Interval: 50_000_000, Beacon: 20_000_000},
	}
}

// uncoordinated returns an input of three applications, each with a different pattern.
func uncoordinated(t *testing.T) engine.Input {
	t.Helper()
	all := make([]int32, 64)
	for i := range all {
		all[i] = int32(i)
	}
	return engine.Input{
		Fabric: fabric(t, "64x800G", 64),
		Traffic: []engine.Traffic{
			{Name: "web", Clients: all[:40], Servers: all[30:], MessageSize: 16_000, Load: 300_000_000},
			{Name: "store", Clients: all, Servers: all, MessageSize: 1 << 20, Load: 400_000_000, Pattern: engine.Permutation},
			{Name: "sync", Clients: all[10:], Servers: all[:1], MessageSize: 4000, Load: 10_000_000, Pattern: engine.Incast},
		},
		Options: engine.Options{Limit: 200_000_000, WarmUp: 20_000_000, Interval: 50_000_000, Beacon: 100_000_000},
	}
}

// everyOperation is a 64-rank workload with each operation and algorithm, in
// groups of different sizes, one of them over two racks.
func everyOperation(t *testing.T) []collective.GroupSpec {
	t.Helper()
	var phases []collective.Phase
	for _, entry := range collective.Matrix() {
		for _, algorithm := range entry.AllowedAlgorithms {
			phases = append(phases, collective.Phase{OperationType: entry.OperationType, Algorithm: algorithm, DataSize: 1<<20 + 7})
		}
	}
	groups, err := collective.Resolve(nil, []collective.GroupSpec{
		{Count: 1, GroupSize: 16, Phases: phases}, {Count: 1, GroupSize: 32, Phases: phases}, {Count: 2, GroupSize: 8, Phases: phases},
	}, true)
	if err != nil {
		t.Fatal(err)
	}
	return groups
}

// recordInput runs the input and returns its result files.
func recordInput(t *testing.T, c results.Config, in engine.Input) (*files, *engine.Result) {
	t.Helper()
	out := &files{}
	c.Fabric, c.ScaleUp, c.Create = in.Fabric, in.ScaleUp, out.create
	c.Start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r, err := results.New(c)
	if err != nil {
		t.Fatal(err)
	}
	result, err := engine.Run(t.Context(), in, r.Observer())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(result); err != nil {
		t.Fatal(err)
	}
	if out.open != 0 {
		t.Fatalf("%d files left open", out.open)
	}
	return out, result
}

// TestScaleUpFiles: a run with a scale-up group has a record of the group's ports
// and a record of progress.
func TestScaleUpFiles(t *testing.T) {
	t.Parallel()
	out, _ := recordInput(t, results.Config{Simulation: "traces"}, scaledUp(t))
	ports := out.content["traces-scale-up-stats-0.csv"].String()
	if !strings.HasSuffix(ports, "\n4,7,0,3600.000000000,14,0,1835008,0\n5,7,1,3600.000000000,14,14,1835008,1835008\n"+
		"6,7,0,3600.000000000,14,14,1835008,1835008\n7,7,1,3600.000000000,0,14,0,1835008\n") {
		t.Errorf("unexpected record of ports:\n%s", ports)
	}
	if cdf := out.content["traces-progress-cdf-0.csv"].String(); !strings.HasSuffix(cdf, ",1.000000\n") || !strings.Contains(cdf, ",0.") {
		t.Errorf("record of progress, want an end at 1 and rows before it:\n%s", cdf)
	}
}

// TestTrafficFiles: the per-transfer record names the application of each message.
func TestTrafficFiles(t *testing.T) {
	t.Parallel()
	out, _ := recordInput(t, results.Config{Simulation: "traffic"}, uncoordinated(t))
	if perf := out.content["traffic-perf-0.csv"].String(); !strings.Contains(perf, ",TransferFCT.sync.GroupSize64.CommSize4000Bytes,-1,") {
		t.Error("the per-transfer record does not name the application")
	}
}
