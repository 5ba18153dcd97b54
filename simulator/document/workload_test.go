package document_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"netsim/simulator/engine"
)

// workloads returns the tests of the parameters that say what runs, where and when.
func workloads() map[string]func(*testing.T) {
	rack := network{pods: 1, racks: 1, hosts: 8, fsw: 1}
	run := func(t *testing.T, kind string, changes ...change) outcome {
		return simulate(t, rack.document(t, append(changes, numbered("rsw", 1))...), time.Hour, operation(kind, 8))
	}
	// algorithm returns a test that the value of the parameter changes the time of the
	// operation, and the number of its transfers from before to after.
	algorithm := func(kind, parameter, value string, before, after int64) func(*testing.T) {
		return func(t *testing.T) {
			a, b := run(t, kind), run(t, kind, change{"app", chakra(parameter), value, ""})
			if a.Sends != before || b.Sends != after {
				t.Errorf("%d transfers by default, %d with %s; want %d and %d", a.Sends, b.Sends, value, before, after)
			}
			if a.Time == b.Time {
				t.Errorf("the default and %s both take %d ps", value, a.Time)
			}
		}
	}
	scaling := func(before, after []change) func(*testing.T) {
		return func(t *testing.T) {
			a, b := run(t, "allReduce", before...), run(t, "allReduce", after...)
			if 4*b.Bytes != a.Bytes || b.Time >= a.Time {
				t.Errorf("%d bytes in %d ps, scaled %d in %d; want a quarter of the bytes in less time", a.Bytes, a.Time, b.Bytes, b.Time)
			}
		}
	}
	on, quarter := change{"app", chakra("Scaling"), true, ""}, change{"app", chakra("ScalingFactor"), 0.25, ""}
	const in = chakraModel + " ChakraConfiguration."
	const global = "global " + settings
	return map[string]func(*testing.T){
		in + "AllReduceAlgorithm":     algorithm("allReduce", "AllReduceAlgorithm", "halving-doubling", 8*14, 8*6),
		in + "ReduceScatterAlgorithm": algorithm("reduceScatter", "ReduceScatterAlgorithm", "halving", 8*7, 8*3),
		in + "BroadcastAlgorithm":     algorithm("broadcast", "BroadcastAlgorithm", "sequential", 7, 7),
		in + "AllToAllAlgorithm":      algorithm("allToAll", "AllToAllAlgorithm", "sequential", 8*7, 8*7),
		in + "Scaling":                scaling([]change{quarter}, []change{quarter, on}),
		in + "ScalingFactor":          scaling([]change{on}, []change{on, quarter}),

		chakraModel + " LogicalGroupId":  placement,
		"gpu-server-v1 LogicalGroupId":   placement,
		global + "StartTime":             starts,
		global + "WarmUp":                warmsUp,
		global + "CoolDown":              coolsDown,
		global + "NDStatsReportInterval": reports,
		global + "BeaconReportInterval":  reports,
		trafficModel + " Load":           generated(change{"app", "Load", 0.25, ""}, 0.5),
		trafficModel + " MessageSize":    generated(change{"app", "MessageSize", 64, "KB"}, 0.25),
		trafficModel + " TrafficPattern": patterns,
	}
}

// placement tests that ranks run on the servers of their application's group, in
// order.
func placement(t *testing.T) {
	n := network{pods: 1, racks: 1, hosts: 4, fsw: 1}
	d := n.document(t, numbered("rsw", 1))
	// Two more servers, of another component.
	other := d.Components[4]
	other.Name = "other"
	other.TypedParameters = n.document(t).Components[4].TypedParameters
	d.Components = append(d.Components, other)
	refs := d.Containers[0].Components
	more := refs[1]
	more.Name, more.Count = "other", 2
	d.Containers[0].Components = append(refs[:1:1], more, refs[1])
	first := func(changes ...change) []int32 {
		for _, c := range changes {
			c.apply(t, d)
		}
		fabric, err := d.Fabric()
		if err != nil {
			t.Fatal(err)
		}
		hosts, err := d.Place(d.Chakra(), fabric, 2)
		if err != nil {
			t.Fatal(err)
		}
		return hosts
	}
	group := func(holder string, n int) change { return change{holder, "LogicalGroupId", n, ""} }
	for _, c := range []struct {
		changes []change
		want    [2]int32
	}{
		{nil, [2]int32{0, 1}},
		{[]change{group("other", 7)}, [2]int32{2, 3}},
		{[]change{group("app", 7)}, [2]int32{0, 1}},
		{[]change{group("other", 0), group("server", 7)}, [2]int32{2, 3}},
	} {
		if got := first(c.changes...); [2]int32(got) != c.want {
			t.Errorf("after %v, ranks are on hosts %v, want %v", c.changes, got, c.want)
		}
	}
	o := simulate(t, d, time.Hour, message(1000, 1))
	for host, want := range []bool{false, false, true, false, false, false} {
		if got := o.bits[2*host] > 0; got != want {
			t.Errorf("the NIC of host %d has sent: %v, want %v", host, got, want)
		}
	}
	fabric, err := d.Fabric()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Place(d.Chakra(), fabric, 5); err == nil || err.Error() != "5 ranks exceed the 4 servers of logical group 7" {
		t.Errorf("got error %v, want one about 5 ranks and 4 servers", err)
	}
}

// starts tests that StartTime delays both the end of a run and its time limit.
func starts(t *testing.T) {
	n := network{pods: 1, racks: 1, hosts: 8, fsw: 1}
	at := change{"", settings + "StartTime", 3, "ms"}
	early := simulate(t, n.document(t, numbered("rsw", 1)), time.Hour, operation("allReduce", 8))
	late := simulate(t, n.document(t, numbered("rsw", 1), at), time.Hour, operation("allReduce", 8))
	if late.Time != early.Time+3_000_000_000 {
		t.Errorf("ends at %d ps, started at 3 ms at %d", early.Time, late.Time)
	}
	cut := simulate(t, n.document(t, numbered("rsw", 1), at), time.Microsecond, operation("allReduce", 8))
	if cut.End != engine.Limited || cut.Time != 3_001_000_000 {
		t.Errorf("limited to 1 us from 3 ms on, ends %v at %d ps", cut.End, cut.Time)
	}
}

func generator(t *testing.T, duration time.Duration, changes ...change) outcome {
	t.Helper()
	n := network{pods: 1, racks: 1, hosts: 8, fsw: 1, application: trafficModel}
	return simulate(t, n.document(t, append(changes, numbered("rsw", 1))...), duration)
}

// generated returns a test that a change multiplies the number of messages by the factor.
func generated(c change, factor float64) func(*testing.T) {
	return func(t *testing.T) {
		before, after := generator(t, 500*time.Microsecond), generator(t, 500*time.Microsecond, c)
		if got := float64(after.SendsTotal) / float64(before.SendsTotal); math.Abs(got/factor-1) > 0.08 {
			t.Errorf("%d messages, with %s = %v %s %d; want a factor of %v", before.SendsTotal, c.path, c.value, c.unit, after.SendsTotal, factor)
		}
	}
}

func patterns(t *testing.T) {
	for pattern, receivers := range map[string]int{"uniform-random": 8, "permutation": 8, "incast": 1} {
		o := generator(t, 200*time.Microsecond, change{"app", "TrafficPattern", pattern, ""}, change{"app", "Load", 0.1, ""})
		if n := len(o.receivers); n > receivers || n < min(receivers, 6) {
			t.Errorf("%s: %d receivers, want %d", pattern, n, receivers)
		}
	}
}

func warmsUp(t *testing.T) {
	plain, warm := generator(t, time.Millisecond), generator(t, time.Millisecond, change{"", settings + "WarmUp", 1, "ms"})
	if plain.Measured != plain.Sends || math.Abs(float64(warm.Measured)/float64(warm.Sends)-0.5) > 0.05 || warm.Sends < plain.Sends*9/5 {
		t.Errorf("%d of %d messages are measured, after a warm-up %d of %d", plain.Measured, plain.Sends, warm.Measured, warm.Sends)
	}
}

func coolsDown(t *testing.T) {
	plain, cool := generator(t, time.Millisecond), generator(t, time.Millisecond, change{"", settings + "CoolDown", 1, "ms"})
	if plain.End != engine.Limited || cool.End != engine.Finished || cool.Sends != cool.SendsTotal {
		t.Errorf("ended %v; with a cool-down %v, %d of %d messages sent", plain.End, cool.End, cool.Sends, cool.SendsTotal)
	}
}

// reports tests that a run of 8 ms has a report per interval, and at most one more at its end.
func reports(t *testing.T) {
	for path, interval := range map[string][2]change{
		"NDStatsReportInterval": {{"", settings + "NDStatsReportInterval", 1, "ms"}, {"", settings + "NDStatsReportInterval", 250, "us"}},
		"BeaconReportInterval":  {{"", settings + "BeaconReportInterval", 0.001, ""}, {"", settings + "BeaconReportInterval", 0.00025, ""}},
	} {
		count := func(c change) int {
			o := generator(t, 8*time.Millisecond, change{"app", "Load", 0.01, ""}, c)
			if strings.HasPrefix(path, "ND") {
				return o.reports
			}
			return o.beacons
		}
		if coarse, fine := count(interval[0]), count(interval[1]); coarse < 8 || coarse > 9 || fine < 32 || fine > 33 {
			t.Errorf("%s: %d reports, at a quarter of the interval %d; want 8 and 32, or one more", path, coarse, fine)
		}
	}
}
