package goal_test

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"netsim/simulator/chakra"
	"netsim/simulator/engine"
	"netsim/simulator/goal"
	"netsim/simulator/replay"
	"netsim/simulator/topology"
)

type trace struct{ bytes.Buffer }

func (*trace) Close() error { return nil }

// convert returns the traces of a schedule.
func convert(text string) (map[int]*trace, goal.Totals, error) {
	traces := map[int]*trace{}
	totals, err := goal.Convert(strings.NewReader(text), func(rank int) (io.WriteCloser, error) {
		traces[rank] = &trace{}
		return traces[rank], nil
	})
	return traces, totals, err
}

// schedule is a broadcast along a binomial tree, as generators of GOAL write it, with a
// computation before and after it.
func schedule(ranks int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "num_ranks %d\n\n", ranks)
	for rank := range ranks {
		fmt.Fprintf(&b, "rank %d {\nc%d: calc 2500 cpu 0 // ns\n", rank, rank)
		last, parent := fmt.Sprintf("c%d", rank), 0
		for step := 1; step <= rank; step *= 2 {
			parent = rank - step
		}
		if rank > 0 {
			fmt.Fprintf(&b, "r%d: recv 4000b from %d tag 42 cpu 0 nic 0\nr%d requires %s\n", rank, parent, rank, last)
			last = fmt.Sprintf("r%d", rank)
		}
		for step := 1; step < ranks; step *= 2 {
			if step > rank && rank+step < ranks {
				fmt.Fprintf(&b, "s%d_%d: send 4000b to %d tag 42\ns%d_%d requires %s\n", rank, step, rank+step, rank, step, last)
			}
		}
		b.WriteString("}\n\n")
	}
	return b.String()
}

// run simulates traces on one switch.
func run(t *testing.T, traces map[int]*trace) *engine.Result {
	t.Helper()
	n := len(traces)
	scales := slices.Repeat([]float64{0.001}, n)
	b := replay.New(n, replay.Options{Times: scales})
	for rank := range n {
		r, err := chakra.NewReader(&traces[rank].Buffer, chakra.Limits{})
		if err == nil {
			err = b.Add(rank, r)
		}
		if err != nil {
			t.Fatalf("rank %d: %v", rank, err)
		}
	}
	p, err := b.Schedule()
	if err != nil {
		t.Fatal(err)
	}
	server := topology.Server{Component: "server", NICs: []topology.NIC{{Component: "nic", Rate: 400_000_000_000, Delay: 1_000_000}}}
	fabric, err := topology.Build(topology.Layout{Racks: []topology.Rack{{
		Switches: []topology.Switch{{Component: "switch", DownRate: 400_000_000_000}}, Servers: slices.Repeat([]topology.Server{server}, n),
	}}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := engine.Run(t.Context(), engine.Input{Fabric: fabric, Replay: &engine.Replay{Schedule: p}}, engine.Observer{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestConverts: a schedule becomes traces that run: every message is sent once, calcs take
// their nanoseconds, and dependencies hold.
func TestConverts(t *testing.T) {
	t.Parallel()
	traces, totals, err := convert(schedule(8))
	if err != nil {
		t.Fatal(err)
	}
	if want := (goal.Totals{Ranks: 8, Calcs: 8, Sends: 7, Receives: 7, Dependencies: 14}); totals != want {
		t.Errorf("got %+v, want %+v", totals, want)
	}
	r := run(t, traces)
	// The way to rank 7 has three messages, each some 4 us of delays and less than 1 us of data.
	if r.End != engine.Finished || r.Sends != 7 || r.Bytes != 28_000 || r.Computations != 8 || r.Time < 2_500_000+3*4_000_000 || r.Time > 2_500_000+3*5_000_000 {
		t.Errorf("got %+v, want 7 messages in 14.5 to 17.5 us", r.Progress)
	}
}

// TestDependencies: what requires the start of an operation waits for what that waits for.
// Comments and blanks may be anywhere.
func TestDependencies(t *testing.T) {
	t.Parallel()
	traces, _, err := convert("/* two\nlines */ num_ranks 1\nrank 0 { // the only one\na : calc 10\nb: calc 20 cpu 1\nc: calc 30\nd: calc 40\n" +
		"b requires a\nc irequires b\nd irequires c\nd requires a\n}\n")
	if err != nil {
		t.Fatal(err)
	}
	want := `{"version":"0.0.4"}
{"id":"0","type":"COMP_NODE","durationMicros":"10"}
{"id":"1","type":"COMP_NODE","durationMicros":"20","dataDeps":["0"],"attr":[{"name":"is_cpu_op","boolVal":true}]}
{"id":"2","type":"COMP_NODE","durationMicros":"30","dataDeps":["0"]}
{"id":"3","type":"COMP_NODE","durationMicros":"40","dataDeps":["0"]}
`
	if got := traces[0].String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	// a takes 10 ns, then b runs on the host while c and d run one after the other.
	if r := run(t, traces); r.Time != 80_000 {
		t.Errorf("takes %d ps, want 80 ns", r.Time)
	}
}

// TestRefusals: a text that is no schedule, or one that is not modelled, is refused with the
// line and what is wrong.
func TestRefusals(t *testing.T) {
	t.Parallel()
	one := func(body string) string { return "num_ranks 2\nrank 0 {\n" + body + "\n}\nrank 1 {\n}\n" }
	for text, want := range map[string]string{
		"":                           "line 0: the schedule has 0 ranks",
		"hello\n":                    "line 1: 'hello' is neither",
		"num_ranks 0\n":              "num_ranks must be from 1 to 65536, got '0'",
		"num_ranks 2\nrank 0 {\n}\n": "the schedule has 1 ranks, and num_ranks is 2",
		"num_ranks 2\nrank 2 {\n}\n": "'2' is not a rank from 0 to 1",
		"num_ranks 2\nrank 0 {\n":    "rank 0 has no closing bracket",
		"num_ranks 1\nrank 0 {\n}\nrank 0 {\n}\n": "rank 0 has two schedules",
		one("a: fly 8"):                "line 3: 'fly 8' is no calc",
		one("calc"):                    "'calc' is no calc",
		one("calc -1"):                 "'-1' is not a duration",
		one("calc 1 cpu 2"):            "calc is on cpu 2",
		one("calc 1 nic 0"):            "'nic 0' is neither",
		one("send 8 to 1"):             "'8' is not a size such as 8b",
		one("send 8b from 1"):          "'send 8b from 1' is no calc",
		one("recv 8b from -1"):         "any source is not modelled",
		one("recv 8b from 1 tag -1"):   "any tag is not modelled",
		one("send 8b to 1 tag"):        "'tag' has no value",
		one("a: calc 1\na: calc 2"):    "the label a is used twice",
		one("a: calc 1\na requires b"): "names an operation that is not above it",
		one("a: calc 1\nb: calc 1\na irequires b\nb irequires a"): "requires its own start",
		"num_ranks 1 " + strings.Repeat("x", 1<<16):               "token too long",
	} {
		if _, _, err := convert(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: got %v, want %s", text, err, want)
		}
	}
}
