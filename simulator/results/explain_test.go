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

// explained is the content of summary.json, decoded without the types of package results.
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

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance*math.Max(1, math.Abs(b)) }

// rowsOf returns the rows of a file, each as values by column.
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

// TestSummaryAgreesWithTheRecords: for every kind of run, the figures of
// summary.json about collectives and links agree with the CSV files, and shares
// add up to 100 %.
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
						t.Errorf("collective kind %+v does not agree with the row %v", k, row)
					}
				}
			}
			type end struct{ tier, uldl string }
			carried := map[end][]float64{}
			totals := map[[2]string]map[string]string{}
			for _, row := range rowsOf(t, out, "s-nd-stats-0.csv") {
				totals[[2]string{row["component_name"], row["nd_name"]}] = row // the last row has the totals
			}
			rates := map[[2]string]float64{}
			for _, row := range rowsOf(t, out, "s-topology-report-0.csv") {
				rates[[2]string{row["component_name"], row["net_device"]}] = number(t, row["linkspeed_Gbps"])
				rates[[2]string{row["peer_component_name"], row["peer_net_device"]}] = number(t, row["linkspeed_Gbps"])
			}
			for at, row := range totals {
				tier := results.Tiers()[int(number(t, row["tier"]))]
				capacity := rates[at] / 8 * float64(x.SimulatedTimePs) / 1e12 // GB
				carried[end{tier, row["uldl"]}] = append(carried[end{tier, row["uldl"]}], 100*number(t, row["total_bytes_tx_GB"])/capacity)
			}
			if len(carried) != len(x.LinkUtilization) {
				t.Errorf("linkUtilization has %d tiers and directions, want %d", len(x.LinkUtilization), len(carried))
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
					t.Errorf("limitedBy is not sorted: %+v", x.LimitedBy)
				}
			}
			if !near(percent, 100, 1e-6) || len(x.Bottlenecks) == 0 || len(x.Bottlenecks) > 10 || len(x.Reading) == 0 {
				t.Errorf("%f %% of the flow time, %d bottlenecks, reading %q; want 100 %%, 1 to 10 and a text", percent, len(x.Bottlenecks), x.Reading)
			}
			if p := x.TransferTime; p != nil && !near(p.DrainingPercent+p.LatencyPercent, 100, 1e-6) {
				t.Errorf("transfer time %+v, want shares that add up to 100 %%", p)
			}
		})
	}
}

// TestBottlenecks: the link that four transfers share is the first bottleneck. Its
// figures are computed by hand: four transfers of 992 KB at 400 Gb/s.
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
		t.Errorf("first bottleneck %+v (-want +got):\n%s", got, diff)
	}
	if !near(got.UtilizationPercent, 100*79.36e6/float64(x.SimulatedTimePs), 1e-5) {
		t.Errorf("utilization %f %%, want %f %%", got.UtilizationPercent, 100*79.36e6/float64(x.SimulatedTimePs))
	}
	if k := x.CollectiveKinds[0]; k.IdealTimeUs != 79.36 || !near(k.MeanAlgorithmBandwidthGBps, 4960/k.MeanRunTimeUs, 1e-5) || !near(k.MeanBusBandwidthGBps, 0.8*k.MeanAlgorithmBandwidthGBps, 1e-5) {
		t.Errorf("unexpected times or bandwidths of the collective: %+v", k)
	}
}

// TestTheTopologyChangedAndTheResultDidNot: if another topology would not change
// the result, the reading says so. If the network limits the run, it says that.
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
	contains := func(x explained, part string) bool {
		return slices.ContainsFunc(x.Reading, func(s string) bool { return strings.Contains(s, part) })
	}
	ring := collective.Phase{OperationType: "allReduce", Algorithm: "ring", DataSize: 64 << 20}
	one, three := read("1:1", ring, engine.Spray), read("3:1", ring, engine.Spray)
	if !near(float64(one.SimulatedTimePs), float64(three.SimulatedTimePs), 0.01) || !contains(one, "another topology shortens only the other 0.0 %") || !contains(three, "another topology") {
		t.Errorf("%d ps at 1:1 and %d ps at 3:1, reading %q", one.SimulatedTimePs, three.SimulatedTimePs, three.Reading)
	}
	exchange := collective.Phase{OperationType: "allToAll", DataSize: 16 << 20}
	x := read("3:1", exchange, engine.Spray)
	if !contains(x, "The network between the racks limited") || x.LimitedBy[0].Tier != "rsw" && x.LimitedBy[0].Tier != "fsw" ||
		!strings.Contains(x.Bottlenecks[0].Name, " links from ") {
		t.Errorf("reading %q, bottlenecks %+v; want the network between the racks", x.Reading, x.Bottlenecks)
	}
	if small := read("1:1", collective.Phase{OperationType: "allReduce", Algorithm: "ring", DataSize: 4096}, engine.ECMP); !contains(small, "for latency: faster links change at most") {
		t.Errorf("reading %q, want a line about latency", small.Reading)
	}
}

// TestComputing: rankTime has the mean times that ranks spent computing and waiting.
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
		t.Errorf("rank time %+v, want a mean of %f us and %f us of computing", s, time/n, compute/n)
	}
	if x := explain(t, first(recordInput(t, results.Config{Simulation: "s"}, kinds(t)["traffic"]))); x.RankTime != nil {
		t.Errorf("rank time %+v of traffic, want none", x.RankTime)
	}
}

// TestManyKinds: a summary lists at most 100 kinds of collectives, but its reading
// considers all of them.
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
		t.Errorf("%d kinds and %d omitted, want 100 and 20; reading %q", len(x.CollectiveKinds), x.CollectiveKindsOmitted, x.Reading)
	}
}

func first(out *files, _ *engine.Result) *files { return out }

// TestReadingNamesSwitchingCapacity: if the switching capacity is the limit, the
// reading recommends a larger one instead of more or faster links.
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
		t.Errorf("reading does not recommend switching capacity, or recommends links:\n%s", reading)
	}
}
