package results_test

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/simulator/collective"
	"netsim/simulator/engine"
	"netsim/simulator/results"
	"netsim/simulator/topology"
)

// explained is what summary.json says, as somebody reads it who has only that.
type explained struct {
	SimulatedTimePs int64
	CollectiveKinds []struct {
		OperationType, Algorithm                         string
		SizeBytes, GroupSize, Count                      int64
		IdealTimeUs, MeanRunTimeUs, P99RunTimeUs         float64
		MeanSlowdownRatio, P99SlowdownRatio              float64
		MeanAlgorithmBandwidthGBps, MeanBusBandwidthGBps float64
	}
	CollectiveKindsOmitted int
	RankTime               *struct {
		MeanTimeUs, MeanComputeTimeUs, MeanExposedCommunicationTimeUs, ExposedCommunicationPercent float64
	}
	TransferTime    *struct{ DrainingPercent, LatencyPercent float64 }
	LinkUtilization []struct {
		Tier, Uldl                          string
		Interfaces                          int
		MeanPercent, P99Percent, MaxPercent float64
	}
	LimitedBy   []limited
	Bottlenecks []struct {
		Name                         string
		RateGbps, UtilizationPercent float64
		limited
	}
	Reading []string
}

type limited struct {
	Kind, Tier, Uldl            string
	FlowTimePercent, FlowTimeUs float64
	WireBytes                   int64
}

func explain(t *testing.T, out *files) (x explained) {
	t.Helper()
	if err := json.Unmarshal(out.content["summary.json"].Bytes(), &x); err != nil {
		t.Fatal(err)
	}
	return x
}

func near(a, b, part float64) bool { return math.Abs(a-b) <= part*math.Max(1, math.Abs(b)) }

// rowsOf reads a record's rows, as columns by name.
func rowsOf(t *testing.T, out *files, name string) []map[string]string {
	t.Helper()
	all, err := csv.NewReader(strings.NewReader(out.content[name].String())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]string
	for _, fields := range all[1:] {
		row := map[string]string{}
		for i, column := range all[0] {
			row[column] = fields[i]
		}
		rows = append(rows, row)
	}
	return rows
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestSummaryAgreesWithTheRecords: of every kind of run, what summary.json says
// of collectives and links is what somebody works out from the CSV files, and
// its parts add up.
func TestSummaryAgreesWithTheRecords(t *testing.T) {
	t.Parallel()
	for kind, in := range kinds(t) {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			out, _ := recordInput(t, results.Config{Simulation: "s"}, in)
			x := explain(t, out)
			if len(x.CollectiveKinds) > 0 {
				rows := rowsOf(t, out, "s-collective-percentiles-0.csv")
				for i, k := range x.CollectiveKinds {
					row := rows[i]
					if k.OperationType != row["comm_type"] || k.Algorithm != row["expansion_algo"] || !near(k.MeanRunTimeUs, number(t, row["mean_run_time_us"]), 0) ||
						!near(k.P99SlowdownRatio, number(t, row["p99_ideal_ratio"]), 0) || !near(k.MeanBusBandwidthGBps, number(t, row["mean_busbw_GBps"]), 1e-5) ||
						!near(k.MeanSlowdownRatio, k.MeanRunTimeUs/k.IdealTimeUs, 1e-3) {
						t.Errorf("%+v against %v", k, row)
					}
				}
			}
			type end struct{ tier, uldl string }
			carried := map[end][]float64{}
			totals := map[[2]string]map[string]string{}
			for _, row := range rowsOf(t, out, "s-nd-stats-0.csv") {
				totals[[2]string{row["component_name"], row["nd_name"]}] = row // the last is the total
			}
			rates := map[[2]string]float64{}
			for _, row := range rowsOf(t, out, "s-topology-report-0.csv") {
				rates[[2]string{row["component_name"], row["net_device"]}] = number(t, row["linkspeed_Gbps"])
				rates[[2]string{row["peer_component_name"], row["peer_net_device"]}] = number(t, row["linkspeed_Gbps"])
			}
			for at, row := range totals {
				tier := results.Tiers()[int(number(t, row["tier"]))]
				room := rates[at] / 8 * float64(x.SimulatedTimePs) / 1e12 // GB
				carried[end{tier, row["uldl"]}] = append(carried[end{tier, row["uldl"]}], 100*number(t, row["total_bytes_tx_GB"])/room)
			}
			if len(carried) != len(x.LinkUtilization) {
				t.Errorf("%d tiers and directions are told, want %d", len(x.LinkUtilization), len(carried))
			}
			for _, u := range x.LinkUtilization {
				list := carried[end{u.Tier, u.Uldl}]
				var sum float64
				for _, v := range list {
					sum += v
				}
				if len(list) != u.Interfaces || !near(u.MeanPercent, sum/float64(len(list)), 1e-4) || !near(u.MaxPercent, slices.Max(list), 1e-4) {
					t.Errorf("%+v, want %d interfaces, mean %f, max %f", u, len(list), sum/float64(len(list)), slices.Max(list))
				}
			}
			var percent float64
			for i, l := range x.LimitedBy {
				percent += l.FlowTimePercent
				if i > 0 && l.FlowTimeUs > x.LimitedBy[i-1].FlowTimeUs {
					t.Errorf("limits are not ordered: %+v", x.LimitedBy)
				}
			}
			if !near(percent, 100, 1e-6) || len(x.Bottlenecks) == 0 || len(x.Bottlenecks) > 10 || len(x.Reading) == 0 {
				t.Errorf("%f %% of the flow time, %d bottlenecks, %q", percent, len(x.Bottlenecks), x.Reading)
			}
			if p := x.TransferTime; p != nil && !near(p.DrainingPercent+p.LatencyPercent, 100, 1e-6) {
				t.Errorf("%+v", p)
			}
		})
	}
}

// TestBottlenecks: the link that four senders share is named with all that it
// did, by hand: 4·992 KB and headers at 400 Gb/s.
func TestBottlenecks(t *testing.T) {
	t.Parallel()
	groups, err := collective.Resolve(&collective.Workload{Ranks: 5, Phases: []collective.Phase{{OperationType: "scatter", DataSize: 5 * 992_000}}}, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	out, _ := record(t, results.Config{Simulation: "s", Fabric: fabric(t, "128x400G", 5)}, groups, engine.Options{NICs: []engine.NIC{{Packet: engine.Packet{MSS: 4000}}}})
	x := explain(t, out)
	got := x.Bottlenecks[0]
	want := limited{Kind: "links", Tier: "nic", Uldl: "ul", FlowTimePercent: 100, FlowTimeUs: 4 * 79.36, WireBytes: 4 * 992_000}
	if diff := cmp.Diff(want, got.limited); diff != "" || got.Name != "nic-0 eth0 to rsw-0 eth0" || got.RateGbps != 400 {
		t.Errorf("%+v\n%s", got, diff)
	}
	if !near(got.UtilizationPercent, 100*79.36e6/float64(x.SimulatedTimePs), 1e-5) {
		t.Errorf("it was used for %f %%", got.UtilizationPercent)
	}
	if k := x.CollectiveKinds[0]; k.IdealTimeUs != 79.36 || !near(k.MeanAlgorithmBandwidthGBps, 4960/k.MeanRunTimeUs, 1e-5) || !near(k.MeanBusBandwidthGBps, 0.8*k.MeanAlgorithmBandwidthGBps, 1e-5) {
		t.Errorf("%+v", k)
	}
}

// TestTheTopologyChangedAndTheResultDidNot: the summary says so, and it says
// when the topology is what counts.
func TestTheTopologyChangedAndTheResultDidNot(t *testing.T) {
	t.Parallel()
	read := func(ratio string, c collective.Phase, routing engine.Routing) explained {
		d, err := topology.Derive(topology.Constraints{SwitchRadix: "64x800G", SubscriptionRatio: ratio}, 256)
		if err != nil {
			t.Fatal(err)
		}
		f, err := topology.Build(d.Layout())
		if err != nil {
			t.Fatal(err)
		}
		groups, err := collective.Resolve(&collective.Workload{Ranks: 256, Phases: []collective.Phase{c}}, nil, true)
		if err != nil {
			t.Fatal(err)
		}
		out, _ := record(t, results.Config{Simulation: "s", Fabric: f}, groups, engine.Options{Routing: routing})
		return explain(t, out)
	}
	says := func(x explained, part string) bool {
		return slices.ContainsFunc(x.Reading, func(s string) bool { return strings.Contains(s, part) })
	}
	ring := collective.Phase{OperationType: "allReduce", Algorithm: "ring", DataSize: 64 << 20}
	one, three := read("1:1", ring, engine.Spray), read("3:1", ring, engine.Spray)
	if !near(float64(one.SimulatedTimePs), float64(three.SimulatedTimePs), 0.01) || !says(one, "another topology shortens only the other 0.0 %") || !says(three, "another topology") {
		t.Errorf("%d and %d ps, read as %q", one.SimulatedTimePs, three.SimulatedTimePs, three.Reading)
	}
	exchange := collective.Phase{OperationType: "allToAll", DataSize: 16 << 20}
	x := read("3:1", exchange, engine.Spray)
	if !says(x, "The network between the racks limited") || x.LimitedBy[0].Tier != "rsw" && x.LimitedBy[0].Tier != "fsw" ||
		!strings.Contains(x.Bottlenecks[0].Name, " links from ") {
		t.Errorf("%q, %+v", x.Reading, x.Bottlenecks)
	}
	if small := read("1:1", collective.Phase{OperationType: "allReduce", Algorithm: "ring", DataSize: 4096}, engine.ECMP); !says(small, "for latency: faster links change at most") {
		t.Errorf("%q", small.Reading)
	}
}

// TestComputing: how long ranks computed and how long they waited.
func TestComputing(t *testing.T) {
	t.Parallel()
	out, _ := recordInput(t, results.Config{Simulation: "s"}, kinds(t)["replay"])
	x := explain(t, out)
	var time, compute float64
	rows := rowsOf(t, out, "s-rank-completion-0.csv")
	for _, row := range rows {
		time += number(t, row["completion_time_us"])
		compute += number(t, row["computation_time_us"])
	}
	n := float64(len(rows))
	if s := x.RankTime; !near(s.MeanTimeUs, time/n, 1e-6) || !near(s.MeanComputeTimeUs, compute/n, 1e-6) ||
		!near(s.MeanExposedCommunicationTimeUs, (time-compute)/n, 1e-6) || !near(s.ExposedCommunicationPercent, 100*(time-compute)/time, 1e-4) {
		t.Errorf("%+v, want %f and %f", s, time/n, compute/n)
	}
	if x := explain(t, first(recordInput(t, results.Config{Simulation: "s"}, kinds(t)["traffic"]))); x.RankTime != nil {
		t.Errorf("clients have %+v", x.RankTime)
	}
}

// TestManyKinds: a summary of many different collectives stays short, and reads
// them all.
func TestManyKinds(t *testing.T) {
	t.Parallel()
	var phases []collective.Phase
	for i := range int64(120) {
		phases = append(phases, collective.Phase{OperationType: "broadcast", DataSize: 1<<20 - i*8192})
	}
	groups, err := collective.Resolve(&collective.Workload{Ranks: 8, Phases: phases}, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	out, _ := record(t, results.Config{Simulation: "s", Fabric: fabric(t, "64x800G", 8)}, groups, engine.Options{})
	x := explain(t, out)
	if len(x.CollectiveKinds) != 100 || x.CollectiveKindsOmitted != 20 || !strings.Contains(x.Reading[len(x.Reading)-1], " of 73728 bytes") {
		t.Errorf("%d kinds and %d more, %q", len(x.CollectiveKinds), x.CollectiveKindsOmitted, x.Reading)
	}
}

func first(out *files, _ *engine.Result) *files { return out }

// TestReadingNamesSwitchingCapacity: where the switches' own capacity limits, the
// reading says that it would help, and not that links would.
func TestReadingNamesSwitchingCapacity(t *testing.T) {
	t.Parallel()
	f := fabric(t, "128x400G", 8)
	groups, err := collective.Resolve(&collective.Workload{Ranks: 8, Phases: []collective.Phase{{OperationType: "allToAll", DataSize: 8 << 20}}}, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	of := slices.IndexFunc(f.Nodes, func(n topology.Node) bool { return n.Tier < topology.TierServer })
	out, _ := record(t, results.Config{Simulation: "s", Fabric: f}, groups, engine.Options{
		Switches: []engine.Switch{{Component: f.Nodes[of].Component, Capacity: 100_000_000_000}},
	})
	reading := strings.Join(explain(t, out).Reading, "\n")
	if !strings.Contains(reading, "a larger SwitchingCapacity helps there, and more or faster links do not") || strings.Contains(reading, "there more or faster links help") {
		t.Errorf("the reading is\n%s", reading)
	}
}
