package engine

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"netsim/simulator/collective"
	"netsim/simulator/schedule"
	"netsim/simulator/snapshot"
	"netsim/simulator/topology"
)

// fields lists, for every struct of the engine's state, the fields that a snapshot
// saves and those that it leaves out. A field is left out if it follows from the
// input, is computed again when needed, or is scratch space of one event.
func fields() map[string]struct{ saved, left string } {
	return map[string]struct{ saved, left string }{
		"engine": {
			"now reportAt queue progress flows hops shapes stripeIDs waited owns freeFlows stripes freeStripes resources flowlets " +
				"components freeComponents pending freed admitAt groups replay ranks traffic cover causes links beacons",
			"input fingerprint options observe fabric routes err stride crowd noHops spreading hoppings capacities turns striped ordered trimming weighted solver scaleUp hosts seen",
		},
		"period":       {"every count", ""},
		"queue":        {"heap nodes", "free pushes cache"},
		"instant":      {"key first", "pushed"},
		"node":         {"event next", ""},
		"event":        {"id stamp", ""},
		"cached":       {"", "key last"},
		"Progress":     {"Time Events Sends SendsTotal Bytes BytesTotal Packets Measured LatencySum Ranks RanksTotal Collectives CollectivesTotal Computations ComputationsTotal LastCollective", ""},
		"Sum":          {"Hi Lo", ""},
		"work":         {"hi lo", ""},
		"load":         {"bits packets", ""},
		"flow":         {"left since rate drain tail shape carried from to phase step start limit limited component stamp queued attached followed shares cause", "next mark"},
		"shape":        {"bytes wire trip solo form hops steps", "window lone work"},
		"shapes":       {"list", "index free sweep many"},
		"limitedSince": {"time left", ""},
		"own":          {"time rate", ""},
		"hop":          {"resource", "pos"},
		"stripe":       {"open packets bytes", ""},
		"resource":     {"flows carried freed limited", "few rate fixed left level most members open mark"},
		"hopping":      {"", "rate delay"},
		"limiting":     {"time bits", ""},
		"component":    {"flows live", ""},
		"solver":       {"", "epoch flows links frozen heap stages fair collisions"},
		"counted":      {"", "mark flows"},
		"stage":        {"", "offered flying rest trims resent weights trip sent control acks uneven bunched wait nearest early"},
		"share":        {"", "rate resource"},
		"flowlets":     {"entries turns", "gaps"},
		"flowlet":      {"from to ended open used", ""},
		"group":        {"open base", "first plans firstID ideal"},
		"phase":        {"start begun ended", ""},
		"rank":         {"phase sent acked received steps early leaving finished done", "group local route _"},
		"Rank":         {"Time BytesSent BytesReceived Sends Receives Computations ComputeTime", "Rank Finished"},
		"early":        {"phase step", ""},
		"route":        {"", "to hops steps path limit shape"},
		"replaying":    {"ranks delivered posted episodes", "Schedule synchronize exclusive ideals ready idle"},
		"replayer":     {"waits left processors wire", ""},
		"processor":    {"queue busy cause", ""},
		"rankNode":     {"", "rank node"},
		"episode":      {"members joined ended start begun", ""},
		"member":       {"node sent acked received steps leaving active over", ""},
		"traffic":      {"sources over", "apps end measured"},
		"source":       {"random next open", "app rank gap to"},
		"cover":        {"start", "bits packets"},
		"causes":       {"current list added chain", "on every keep held"},
		"cause":        {"previous from to of step limit count users bytes longest spent", ""},
		"spent":        {"compute sending contention latency", ""},
		"scaleUp":      {"", "ScaleUp first"},
		"Transfer":     {"", "Collective From To Step Bytes Start Acked"},
		"Collective":   {"", "ID Group GroupName GroupSize OperationType Algorithm DataSize Start End Ideal Finished AlgorithmBytes BusNum BusDen"},
	}
}

// TestStateIsDecided: every field of the engine's state is in the list above. A new
// field is added there, and to visit if a snapshot saves it.
func TestStateIsDecided(t *testing.T) {
	t.Parallel()
	list, input := fields(), []string{"Input", "Options", "Observer", "Traffic", "ScaleUp", "Domain", "Seat"}
	var visit func(of reflect.Type)
	seen := map[string]bool{}
	visit = func(of reflect.Type) {
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array:
			visit(of.Elem())
			return
		case reflect.Struct:
		default:
			return
		}
		name := of.Name()
		if name != "" && (of.PkgPath() != reflect.TypeFor[engine]().PkgPath() || seen[name] || slices.Contains(input, name)) {
			return
		}
		seen[name] = true
		var all []string
		for i := range of.NumField() {
			all = append(all, of.Field(i).Name)
			visit(of.Field(i).Type)
		}
		decided := strings.Fields(list[name].saved + " " + list[name].left)
		slices.Sort(all)
		slices.Sort(decided)
		if name != "" && !slices.Equal(all, decided) {
			t.Errorf("%s has the fields %v, but the list has %v", name, all, decided)
		}
	}
	visit(reflect.TypeFor[engine]())
	for name := range list {
		if !seen[name] {
			t.Errorf("the list has %s, which the engine's state does not have", name)
		}
	}
}

// smallInputs returns a run of groups, one of traces and one of traffic.
func smallInputs(t testing.TB) []Input {
	t.Helper()
	server := topology.Server{Component: "server", NICs: []topology.NIC{{Component: "nic", Rate: 1e9, Delay: 1000}}}
	fabric, err := topology.Build(topology.Layout{Racks: []topology.Rack{{
		Switches: []topology.Switch{{Component: "switch", DownRate: 1e9}}, Servers: slices.Repeat([]topology.Server{server}, 4),
	}}})
	if err != nil {
		t.Fatal(err)
	}
	groups, err := collective.Resolve(&collective.Workload{Ranks: 4, Phases: []collective.Phase{
		{OperationType: "allToAll", DataSize: 40_000}, {OperationType: "allReduce", DataSize: 40_000},
	}}, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := schedule.NewPlan("allReduce", "ring", 8000, 2)
	if err != nil {
		t.Fatal(err)
	}
	nodes := func(op schedule.Op) schedule.Rank {
		return schedule.Rank{Nodes: []schedule.Node{
			{Op: schedule.Compute, Value: 1000}, {Op: op, Waits: 1, Value: 5000}, {Op: schedule.Collect, Waits: 1},
		}, First: []int32{0, 1, 2, 2}, Next: []int32{1, 2}}
	}
	hosts := []int32{0, 1, 2, 3}
	o := Options{ProgressEvents: 1, CriticalPath: true, Routing: Flowlet, Switches: []Switch{{Component: "switch", Routing: Flowlet, Gap: 10}}}
	limited := o
	limited.Limit = 10_000_000_000
	return []Input{
		{Fabric: fabric, Groups: groups, Options: o},
		{Fabric: fabric, Options: o, Replay: &Replay{Schedule: &schedule.Schedule{
			Ranks: []schedule.Rank{nodes(schedule.Send), nodes(schedule.Receive)}, Computations: 2,
			Messages: []schedule.Message{{From: 0, To: 1, Send: 1, Receive: 1}},
			Groups:   []schedule.Group{{Members: []int32{0, 1}}}, Plans: []schedule.Plan{plan}, Collectives: []schedule.Collective{{}},
		}}},
		{Fabric: fabric, Options: limited, Traffic: []Traffic{{Clients: hosts, Servers: hosts, MessageSize: 9000, Load: wholeLoad}}},
	}
}

// TestCutStates: a state that is cut anywhere, or of which a byte differs, is refused or
// read, although its checksum is correct.
func TestCutStates(t *testing.T) {
	t.Parallel()
	for i, in := range smallInputs(t) {
		n := 0
		_, err := Run(t.Context(), in, Observer{Snapshot: func(save func(io.Writer) error) error {
			var b bytes.Buffer
			if err := save(&b); err != nil {
				return err
			}
			if n++; n != 17 {
				return nil
			}
			body := b.Bytes()[:b.Len()-sha256.Size]
			for at := range body {
				readState(t, in, body[:at])
				other := slices.Clone(body)
				for _, value := range []byte{0xff, body[at] + 2} {
					other[at] = value
					readState(t, in, other)
				}
			}
			return nil
		}})
		if err != nil {
			t.Fatalf("input %d: %v", i, err)
		}
	}
}

// readState reads a state, whose checksum it adds, and returns the engine with it.
func readState(t *testing.T, in Input, body []byte) *engine {
	t.Helper()
	e, err := newEngine(in, Observer{})
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(body)
	err = snapshot.Read(bytes.NewReader(append(slices.Clone(body), sum[:]...)), e.identity(), e.visit)
	if err != nil && !errors.Is(err, snapshot.ErrRefused) {
		t.Error(err)
	}
	return e
}

// FuzzState: an arbitrary state with a correct checksum is either refused or read, and
// reading it takes memory in proportion to its size.
func FuzzState(f *testing.F) {
	inputs := smallInputs(f)
	for i, in := range inputs {
		n := 0
		_, err := Run(f.Context(), in, Observer{Snapshot: func(save func(io.Writer) error) error {
			var b bytes.Buffer
			err := save(&b)
			if n++; n%16 == 1 {
				f.Add(uint8(i), b.Bytes()[:b.Len()-sha256.Size])
			}
			return err
		}})
		if err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, kind uint8, body []byte) {
		e := readState(t, inputs[int(kind)%len(inputs)], body)
		if cap(e.flows) > 2*len(body)+64 || cap(e.components) > 2*len(body)+64 {
			t.Errorf("room for %d flows and %d components from %d bytes, want at most twice the bytes", cap(e.flows), cap(e.components), len(body))
		}
	})
}
