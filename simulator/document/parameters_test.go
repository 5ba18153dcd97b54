package document_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"netsim/simulator/catalogue"
)

// TestEveryParameterCounts: every parameter of the catalogue either has a test of
// its effect on the simulation, or is listed with the reason why it has none.
func TestEveryParameterCounts(t *testing.T) {
	t.Parallel()
	tested := timing()
	maps.Copy(tested, sharing())
	maps.Copy(tested, workloads())
	maps.Copy(tested, traces())
	listed := idle()
	known := map[string]bool{}
	all := map[string][]catalogue.Parameter{"global": catalogue.Globals()}
	for _, e := range catalogue.Entries() {
		all[e.Model] = e.Parameters
	}
	for model, parameters := range all {
		for _, p := range parameters {
			key := model + " " + p.Path
			known[key] = true
			if (tested[key] == nil) == (listed[key] == "") {
				t.Errorf("%s must be either tested or listed", key)
			}
		}
	}
	for _, key := range append(slices.Collect(maps.Keys(tested)), slices.Collect(maps.Keys(listed))...) {
		if !known[key] {
			t.Errorf("%s is not in the catalogue", key)
		}
	}
	for key, test := range tested {
		t.Run(strings.ReplaceAll(key, " ", "/"), func(t *testing.T) {
			t.Parallel()
			test(t)
		})
	}
}

// idle lists the parameters that do not change a simulation, and why.
func idle() map[string]string {
	const (
		mapping = "set when a mapping file is attached; TestMapped tests the placement"
		single  = "has only one value"
	)
	return map[string]string{
		switchModel + " NumDownLinks":            "advisory: validation compares it with the actual links",
		"roce-nic-v1 NumDownLinks":               "read-only",
		"trimming-nic-v1 NumDownLinks":           "read-only",
		"ideal-nic-v1 NumDownLinks":              "read-only",
		"global SimulationParameters.RunTime":    "a simulation's duration replaces it (completions 5.2)",
		"global EngineParameters.Engine":         "selects the engine; staging refuses one that is not available",
		"global SoftwareVersion.Version":         "read-only",
		chakraModel + " " + chakra("UseMapping"): mapping, chakraModel + " " + chakra("MappingFileName"): mapping,
		chakraModel + " " + chakra("NumOfChakraFiles"):   "read-only: the rank count of the traceset",
		chakraModel + " " + chakra("AllGatherAlgorithm"): single, chakraModel + " " + chakra("ScatterAlgorithm"): single,
		chakraModel + " " + chakra("ScaleUpStatsEnabled"): "adds a record to the results; see runs/traces_test.go",
	}
}

func chakra(name string) string { return "ChakraConfiguration." + name }

const (
	upRate   = "NetworkInterface.UplinkNetworkInterface.DataRate"
	downRate = "NetworkInterface.DownlinkNetworkInterface.DataRate"
	delay    = "NetworkInterface.TransmissionMedium.Delay"
	settings = "SimulationParameters."
)

// path describes the network path of a single transfer. Its time has a closed form.
type path struct {
	mss, header int64
	bottleneck  int64   // bit/s, 0 for the slowest hop
	hops        []int64 // bit/s
	delays      int64   // ps, the sum one way
	pulls       bool    // whether the receiver asks for each packet
}

// threeTiers returns the path between two pods with default parameters.
func threeTiers() path {
	return path{
		mss: 4096, header: 58, delays: 2*100_000 + 4*500_000,
		hops: []int64{400e9, 400e9, 400e9, 400e9, 400e9, 400e9},
	}
}

// time returns the closed form: the time to send at the slowest hop, the travel
// of the last packet, stored and forwarded at each hop, and the travel back of its
// acknowledgement of 64 B. During the first half of a round trip, acknowledgements
// take no bandwidth from the packets. Receivers that pull send their part later, unless the
// message ends before.
func (p path) time(bytes int64) int64 {
	ceil := func(bits, rate int64) int64 { return (bits*1000 + rate/1e9 - 1) / (rate / 1e9) }
	slowest := p.bottleneck
	if slowest == 0 {
		slowest = slices.Min(p.hops)
	}
	packets := (bytes + p.mss - 1) / p.mss
	wire := bytes + packets*(p.header+64)
	sending, trip := ceil(8*wire, slowest), 2*p.delays
	for i, rate := range p.hops {
		if i > 0 {
			trip += ceil(8*(min(bytes, p.mss)+p.header), rate)
		}
		trip += ceil(8*64, rate)
	}
	free := min(sending, trip/2)
	if p.pulls {
		free = max(min(free, trip-sending), 0)
	}
	return sending + trip - free*packets*64/wire
}

// timing returns the tests of the parameters whose effect on one message between
// two pods is known to the picosecond.
func timing() map[string]func(*testing.T) {
	const size = 1_000_000
	on := func(nic string, c change, with func(*path)) func(*testing.T) {
		return func(t *testing.T) {
			n := network{pods: 2, racks: 1, hosts: 1, fsw: 1, ssw: 1, nic: nic}
			before := simulate(t, n.document(t, numbered("fsw", 1), numbered("rsw", 1)), time.Hour, message(size, 1))
			p := threeTiers()
			p.pulls = nic == "trimming-nic-v1"
			if want := p.time(size); before.Time != want {
				t.Errorf("with defaults: %d ps, want %d", before.Time, want)
			}
			with(&p)
			after := simulate(t, n.document(t, numbered("fsw", 1), numbered("rsw", 1), c), time.Hour, message(size, 1))
			if want := p.time(size); after.Time != want {
				t.Errorf("with %s = %v %s: %d ps, want %d", c.path, c.value, c.unit, after.Time, want)
			}
		}
	}
	exact := func(c change, with func(*path)) func(*testing.T) { return on("", c, with) }
	tests := map[string]func(*testing.T){
		switchModel + " " + upRate:         exact(change{"rsw", upRate, 200, "Gbps"}, func(p *path) { p.hops[1], p.hops[4] = 200e9, 200e9 }),
		switchModel + " " + downRate:       exact(change{"ssw", downRate, 50, "Gbps"}, func(p *path) { p.hops[2], p.hops[3] = 50e9, 50e9 }),
		switchModel + " " + delay:          exact(change{"fsw", delay, 20, "us"}, func(p *path) { p.delays += 2 * 19_500_000 }),
		switchModel + " SwitchingCapacity": exact(change{"ssw", "SwitchingCapacity", 80, "Gbps"}, func(p *path) { p.bottleneck = 80e9 }),
		"global " + settings + "Mtu":       exact(change{"", settings + "Mtu", 1500, "B"}, func(p *path) { p.mss = 1500 - 58 }),
	}
	for _, nic := range nicModels {
		tests[nic+" "+upRate] = on(nic, change{"nic", upRate, 100, "Gbps"}, func(p *path) { p.hops[0], p.hops[5] = 100e9, 100e9 })
		tests[nic+" "+delay] = on(nic, change{"nic", delay, 3, "us"}, func(p *path) { p.delays += 2 * 2_900_000 })
		tests[nic+" Transport.MSS"] = on(nic, change{"nic", "Transport.MSS", 1000, "B"}, func(p *path) { p.mss = 1000 })
		tests[nic+" Transport.HeaderSize"] = on(nic, change{"nic", "Transport.HeaderSize", 500, "B"}, func(p *path) { p.header = 500 })
	}
	return tests
}

// nicModels are the models of NICs, which differ in their transport only.
var nicModels = []string{"roce-nic-v1", "trimming-nic-v1", "ideal-nic-v1"}

func numbered(holder string, uplinks int) change { return change{holder, "NumUpLinks", uplinks, ""} }

// sharing returns the tests of the parameters that decide which links data takes.
// Switches are joined by links of 100 Gb/s, so the time of a message from a NIC of
// 400 Gb/s depends on the number of links over which it spreads.
func sharing() map[string]func(*testing.T) {
	twoTiers := network{pods: 1, racks: 2, hosts: 1, fsw: 2}
	threeTiers := network{pods: 2, racks: 1, hosts: 1, fsw: 1, ssw: 2}
	slow := func(more ...change) []change {
		return append([]change{
			{"rsw", upRate, 100, "Gbps"}, {"fsw", upRate, 100, "Gbps"},
			{"rsw", "LoadBalancingMethod", "spray", ""}, {"fsw", "LoadBalancingMethod", "spray", ""}, {"ssw", "LoadBalancingMethod", "spray", ""},
			{"rsw", "NumUpLinks", 4, ""},
		}, more...)
	}
	// links checks, from the time of a message, over how many links it spreads.
	links := func(n network, common []change, before, after change, from, to int64) func(*testing.T) {
		return func(t *testing.T) {
			const size = 100_000_000 // so large that latencies do not matter
			for _, c := range []struct {
				change
				links int64
			}{{before, from}, {after, to}} {
				o := simulate(t, n.document(t, slow(append(slices.Clone(common), c.change)...)...), time.Hour, message(size, 1))
				want := float64((size + (size/4096+1)*122) * 8 * 10 / c.links)
				if off := float64(o.Time)/want - 1; off < 0 || off > 0.005 {
					t.Errorf("with %s = %v: %d ps, want %.0f", c.path, c.value, o.Time, want)
				}
			}
		}
	}
	set := func(holder, path string, value any) change { return change{holder, path, value, ""} }
	mesh := set("layer", "Wiring", "full-mesh")
	return map[string]func(*testing.T){
		switchModel + " NumUpLinks":          links(twoTiers, nil, set("rsw", "NumUpLinks", 4), set("rsw", "NumUpLinks", 2), 4, 2),
		switchModel + " NumUpLinksPerSwitch": links(twoTiers, nil, set("rsw", "NumUpLinksPerSwitch", 0), set("rsw", "NumUpLinksPerSwitch", 1), 4, 2),
		"ethernet-layer-v1 Wiring": links(threeTiers, []change{set("layer", "LinksPerPair", 2), set("fsw", "NumUpLinks", 2)},
			set("layer", "Wiring", "round-robin"), mesh, 2, 4),
		"ethernet-layer-v1 LinksPerPair": links(threeTiers, []change{mesh}, set("layer", "LinksPerPair", 0), set("layer", "LinksPerPair", 2), 2, 4),
		switchModel + " LoadBalancingMethod": func(t *testing.T) {
			none, spray := set("rsw", "LoadBalancingMethod", "none"), set("rsw", "LoadBalancingMethod", "spray")
			links(twoTiers, []change{set("fsw", "LoadBalancingMethod", "none")}, none, spray, 1, 4)(t)
		},
		switchModel + " LoadBalancingFlowlet.Gap": func(t *testing.T) {
			flowlets := func(more ...change) []change {
				return slow(append([]change{set("rsw", "LoadBalancingMethod", "flowlet"), set("fsw", "LoadBalancingMethod", "none")}, more...)...)
			}
			run := func(c ...change) outcome {
				return simulate(t, twoTiers.document(t, c...), time.Hour, message(100_000, 20))
			}
			pinned := run(slow(set("rsw", "LoadBalancingMethod", "none"), set("fsw", "LoadBalancingMethod", "none"))...)
			long := run(flowlets(change{"rsw", "LoadBalancingFlowlet.Gap", 2, "s"})...)
			none := run(flowlets(change{"rsw", "LoadBalancingFlowlet.Gap", 0, "s"})...)
			if !slices.Equal(pinned.bits, long.bits) || pinned.Time != long.Time {
				t.Error("a pair changes its path although it is never idle as long as the gap")
			}
			if none.used(2) <= pinned.used(2) {
				t.Errorf("20 messages use %d up-links with a gap of 0, and %d without flowlets; want more with flowlets", none.used(2), pinned.used(2))
			}
		},
		switchModel + " EcmpHashMethod": hashing,
		"global " + settings + "RandomSeed": func(t *testing.T) {
			n := network{pods: 1, racks: 2, hosts: 8, fsw: 8}
			run := func(seed int) outcome {
				return simulate(t, n.document(t, numbered("rsw", 8), set("", settings+"RandomSeed", seed)), time.Hour, operation("allReduce", 16))
			}
			a, b := run(1), run(2)
			if slices.Equal(a.bits, b.bits) {
				t.Error("another seed gives the same paths")
			}
			if again := run(1); !slices.Equal(a.bits, again.bits) || again.Time != a.Time {
				t.Error("the same seed gives other paths or another time")
			}
		},
	}
}

// hashing tests that without a salt both tiers make the same choice, so every
// fabric switch uses only one of its links to the spine.
func hashing(t *testing.T) {
	n := network{pods: 2, racks: 1, hosts: 16, fsw: 4, ssw: 4}
	run := func(method string) outcome {
		changes := []change{numbered("rsw", 4), numbered("fsw", 4), {"fsw", upRate, 100, "Gbps"}}
		for _, s := range []string{"rsw", "fsw", "ssw"} {
			changes = append(changes, change{s, "EcmpHashMethod", method, ""})
		}
		return simulate(t, n.document(t, changes...), time.Hour, operation("allToAll", 32))
	}
	runs := map[string]outcome{}
	for _, method := range []string{"crc32", "crc32WithSalt", "hash", "hashWithSalt"} {
		runs[method] = run(method)
		links, salted := runs[method], strings.HasSuffix(method, "WithSalt")
		if used := links.used(1); (used == 8) == salted || salted && used < 24 {
			t.Errorf("%s uses %d of 32 links to the spine", method, used)
		}
	}
	if runs["crc32"].Time < 2*runs["crc32WithSalt"].Time {
		t.Errorf("polarised %d ps, salted %d; want at least twice as long polarised", runs["crc32"].Time, runs["crc32WithSalt"].Time)
	}
	for _, pair := range [][2]string{{"crc32", "hash"}, {"crc32WithSalt", "hashWithSalt"}} {
		if slices.Equal(runs[pair[0]].bits, runs[pair[1]].bits) {
			t.Errorf("%s and %s choose the same paths", pair[0], pair[1])
		}
	}
}
