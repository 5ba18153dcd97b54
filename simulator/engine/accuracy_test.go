package engine_test

import (
	"encoding/csv"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"netsim/simulator/collective"
	"netsim/simulator/engine"
	"netsim/simulator/topology"
)

// rows reads a reference table as maps by column name.
func rows(t *testing.T, file string) []map[string]string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]string
	for _, row := range all[1:] {
		m := map[string]string{}
		for i, name := range all[0] {
			m[name] = row[i]
		}
		out = append(out, m)
	}
	return out
}

func number(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestASTRASim: in analytical mode the engine gives the congestion-unaware
// backend's nanoseconds, for every operation that both know, on its switch.
func TestASTRASim(t *testing.T) {
	t.Parallel()
	algorithms := map[string]collective.Phase{
		"all_reduce ring":                phase("allReduce", "ring", 0),
		"all_reduce halvingDoubling":     phase("allReduce", "recursiveHalvingDoubling", 0),
		"all_gather ring":                phase("allGather", "ring", 0),
		"reduce_scatter ring":            phase("reduceScatter", "ring", 0),
		"reduce_scatter halvingDoubling": phase("reduceScatter", "halving", 0),
		"all_to_all direct":              phase("allToAll", "interleaved", 0),
	}
	compared := 0
	for _, row := range rows(t, "testdata/astrasim_1d.csv") {
		p, known := algorithms[row["collective"]+" "+row["algorithm"]]
		if !known || row["backend"] != "unaware" || row["topology"] != "Switch" || row["splits"] != "1" {
			continue
		}
		compared++
		ranks, _ := strconv.Atoi(row["npus"])
		p.DataSize = int64(number(t, row["size_bytes"]))
		rate := int64(number(t, row["bw_GiBps"])) << 30 * 8
		delay := int64(number(t, row["latency_ns"])) * 1000
		r := run(t, engine.Input{
			Fabric: oneSwitch(t, ranks, rate, delay), Groups: workload(t, ranks, p),
			Options: engine.Options{Analytical: true},
		}, engine.Observer{})
		want := int64(number(t, row["finish_max_ns"]))
		if got := r.Time/1000 + 1; got != want {
			t.Errorf("%s %s of %d: %d ns, want %d", row["collective"], row["algorithm"], ranks, got, want)
		}
	}
	if compared < 12 {
		t.Errorf("only %d rows compared", compared)
	}
}

// TestChunkConvergence: store-and-forward in ever more chunks converges to the
// fluid result; at 256 they are within 1 %. So many chunks in flight hide the
// latency of all steps but one, so the fluid has none.
func TestChunkConvergence(t *testing.T) {
	t.Parallel()
	algorithms := map[string]collective.Phase{
		"all_reduce ring":            phase("allReduce", "ring", 0),
		"all_reduce halvingDoubling": phase("allReduce", "recursiveHalvingDoubling", 0),
		"all_gather ring":            phase("allGather", "ring", 0),
		"reduce_scatter ring":        phase("reduceScatter", "ring", 0),
		"all_to_all direct":          phase("allToAll", "interleaved", 0),
	}
	compared := 0
	for _, row := range rows(t, "testdata/astrasim_switch_chunk_convergence.csv") {
		p, known := algorithms[row["collective"]+" "+row["algorithm"]]
		if !known || row["splits"] != "256" {
			continue
		}
		compared++
		ranks, _ := strconv.Atoi(row["npus"])
		p.DataSize = int64(number(t, row["size_bytes"]))
		r := run(t, engine.Input{
			Fabric: oneSwitch(t, ranks, 50<<30*8, 0), Groups: workload(t, ranks, p),
			Options: engine.Options{Packet: engine.Packet{MSS: 1}},
		}, engine.Observer{})
		want := number(t, row["finish_max_ns"])
		if e := float64(r.Time)/1000/want - 1; math.Abs(e) > 0.01 {
			t.Errorf("%s %s of %d: %d ps, want %.0f ns (%+.2f %%)", row["collective"], row["algorithm"], ranks, r.Time, want, 100*e)
		}
	}
	if compared < 8 {
		t.Errorf("only %d rows compared", compared)
	}
}

// leafSpine is the reference's fabric: 8 hosts a leaf, 400 Gb/s, 500 ns a hop.
func leafSpine(t testing.TB, hosts, oversubscription int) *topology.Fabric {
	t.Helper()
	const perLeaf, rate, delay = 8, 400 * gbps, 500_000
	server := topology.Server{Component: "server", NICs: []topology.NIC{{Component: "nic", Rate: rate, Delay: delay}}}
	pod := topology.Pod{}
	spines := perLeaf / oversubscription
	for range spines {
		pod.Switches = append(pod.Switches, topology.Switch{Component: "spine", DownRate: rate})
	}
	for range hosts / perLeaf {
		pod.Racks = append(pod.Racks, topology.Rack{
			Switches: []topology.Switch{{Component: "leaf", UpLinks: spines, UpRate: rate, DownRate: rate, UpLinkDelay: delay}},
			Servers:  slices.Repeat([]topology.Server{server}, perLeaf),
		})
	}
	f, err := topology.Build(topology.Layout{Pods: []topology.Pod{pod}})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// htsim returns the reference's case as ours: the fabric and the workload.
func htsim(t testing.TB, row map[string]string) (in engine.Input, known bool) {
	operations := map[string]collective.Phase{
		"ring_allreduce":            phase("allReduce", "ring", 0),
		"halvingdoubling_allreduce": phase("allReduce", "recursiveHalvingDoubling", 0),
		"alltoall_interleaved":      phase("allToAll", "interleaved", 0),
		"alltoall_sequential":       phase("allToAll", "sequential", 0),
	}
	name, _, _ := strings.Cut(row["workload"], "_n")
	p, known := operations[name]
	if !known {
		return in, false
	}
	ranks, _ := strconv.Atoi(row["ranks"])
	size, _ := strconv.Atoi(row["size_bytes"])
	over, _ := strconv.Atoi(row["oversub"][:1])
	p.DataSize = int64(size)
	// htsim's packets: 4,096 B of payload in 4,160 B, acknowledgements of 64 B;
	// a single flow's time in the table follows from them to the nanosecond.
	return engine.Input{
		Fabric: leafSpine(t, ranks, over), Groups: workload(t, ranks, p),
		Options: engine.Options{Packet: engine.Packet{MSS: 4096, Header: 64, Ack: 64}},
	}, true
}

// TestPacketLevel compares the last completion with csg-htsim's, packets
// sprayed.
func TestPacketLevel(t *testing.T) {
	t.Parallel()
	var errors []float64
	for _, row := range rows(t, "testdata/htsim_leafspine.csv") {
		in, known := htsim(t, row)
		if !known || row["transport"] != "ndp_spray" {
			continue
		}
		in.Options.Routing = engine.Spray
		r := run(t, in, engine.Observer{})
		want := number(t, row["last_fct_us"])
		e := math.Abs(float64(r.Time)/1e6/want - 1)
		errors = append(errors, e)
		t.Logf("%-38s %s: %9.3f us, want %9.3f (%+.2f %%)", row["workload"], row["oversub"], float64(r.Time)/1e6, want, 100*(float64(r.Time)/1e6/want-1))
	}
	slices.Sort(errors)
	median, worst := errors[len(errors)/2], errors[len(errors)-1]
	t.Logf("%d rows: median error %.2f %%, worst %.2f %%", len(errors), 100*median, 100*worst)
	if median > 0.02 || worst > 0.10 {
		t.Errorf("median error %.2f %%, worst %.2f %%; want at most 2 and 10", 100*median, 100*worst)
	}
}

// TestECMPSpread compares per-flow hashing with csg-htsim's. Its hash is not
// ours, so its one run is to lie in the spread of 20 of our seeds, give or take
// 1 %. One row does not: 64 ranks in an interleaved allToAll at 4:1, where
// 4-packet flows lose time to queues that a fluid does not have.
func TestECMPSpread(t *testing.T) {
	t.Parallel()
	outside := 0
	for _, row := range rows(t, "testdata/htsim_leafspine.csv") {
		in, known := htsim(t, row)
		if !known || row["transport"] != "ndp_ecmp1" {
			continue
		}
		least, most := math.Inf(1), 0.0
		for seed := range uint64(20) {
			in.Options.Seed = seed + 1
			us := float64(run(t, in, engine.Observer{}).Time) / 1e6
			least, most = min(least, us), max(most, us)
		}
		want := number(t, row["last_fct_us"])
		t.Logf("%-38s %s: %9.3f to %9.3f us, htsim %9.3f", row["workload"], row["oversub"], least, most, want)
		switch off := max(least/want, want/most) - 1; {
		case off > 0.09:
			t.Errorf("%s %s: %.1f %% outside the spread", row["workload"], row["oversub"], 100*off)
		case off > 0.01:
			outside++
		}
	}
	if outside > 1 {
		t.Errorf("%d rows outside the spread", outside)
	}
}
