package engine_test

import (
	"encoding/csv"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"netsim/simulator/chakra"
	"netsim/simulator/engine"
	"netsim/simulator/replay"
	"netsim/simulator/schedule"
)

// files builds a schedule from test data of package chakra: one file for each rank, or
// the same file for all ranks if the pattern has no %d.
func files(t testing.TB, ranks int, pattern string, o replay.Options) *schedule.Schedule {
	t.Helper()
	b := replay.New(ranks, o)
	for rank := range ranks {
		name := "../chakra/testdata/" + pattern
		if strings.Contains(name, "%d") {
			name = fmt.Sprintf(name, rank)
		}
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		r, err := chakra.NewReader(f, chakra.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Add(rank, r); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	p, err := b.Schedule()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestRingTrace: the ring all-reduce of sends, receives and computations takes as long
// as in ASTRA-sim, to the nanosecond.
func TestRingTrace(t *testing.T) {
	t.Parallel()
	var last []int64
	r := run(t, engine.Input{
		Fabric: oneSwitch(t, 8, 50<<30*8, 500_000), Replay: &engine.Replay{Schedule: files(t, 8, "ring/custom_allreduce.%d.et.gz", replay.Options{})},
		Options: engine.Options{Analytical: true},
	}, engine.Observer{Rank: func(r *engine.Rank) error {
		if r.Computations != 7 || r.ComputeTime != 49_000_000 || r.Sends != 14 || r.Receives != 14 || !r.Finished {
			t.Errorf("got rank %+v, want 7 computations of 49 us in all, 14 sends and 14 receives", *r)
		}
		last = append(last, r.Time)
		return nil
	}})
	if r.Time != 97_174_000 || slices.Min(last) != r.Time || len(last) != 8 {
		t.Errorf("takes %d ps with ranks that end at %v, want 97174 ns for all 8", r.Time, last)
	}
	if r.Sends != 8*14 || r.Bytes != 8*1835008 || r.Computations != 56 {
		t.Errorf("got %+v, want %d sends of %d bytes and 56 computations", r.Progress, 8*14, 8*1835008)
	}
}

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

// TestCollectiveTraces: the traces of single collectives take as long as in ASTRA-sim
// in the analytical mode (prove/bench/accuracy), and as long as the same operation of a
// simple workload in the ordinary mode.
func TestCollectiveTraces(t *testing.T) {
	t.Parallel()
	compared := 0
	for _, row := range rows(t, "testdata/astrasim_1d.csv") {
		file, known := map[string]string{
			"all_reduce ring":     "microbench/all_reduce.0.et",
			"all_gather ring":     "collectives/all_gather.0.et",
			"reduce_scatter ring": "collectives/reduce_scatter.0.et",
			"all_to_all direct":   "collectives/all_to_all.0.et",
		}[row["collective"]+" "+row["algorithm"]]
		if !known || row["backend"] != "unaware" || row["topology"] != "Switch" || row["splits"] != "1" || row["size_bytes"] != "1048576" {
			continue
		}
		compared++
		ranks, _ := strconv.Atoi(row["npus"])
		in := engine.Input{
			Fabric:  oneSwitch(t, ranks, 50<<30*8, int64(number(t, row["latency_ns"]))*1000),
			Replay:  &engine.Replay{Schedule: files(t, ranks, file, replay.Options{}), Synchronize: ranks > 4},
			Options: engine.Options{Analytical: true},
		}
		r := run(t, in, engine.Observer{})
		if got, want := r.Time/1000+1, int64(number(t, row["finish_max_ns"])); got != want {
			t.Errorf("%s on %d ranks takes %d ns, want %d", file, ranks, got, want)
		}
		operation := map[string]string{"all_reduce": "allReduce", "all_gather": "allGather", "reduce_scatter": "reduceScatter", "all_to_all": "allToAll"}[row["collective"]]
		in.Options = engine.Options{}
		replayed := run(t, in, engine.Observer{})
		in.Replay, in.Groups = nil, workload(t, ranks, phase(operation, "", 1<<20))
		if simple := run(t, in, engine.Observer{}); replayed.Time != simple.Time || replayed.Packets != simple.Packets {
			t.Errorf("%s on %d ranks takes %d ps and %d packets, want %d and %d as a simple workload",
				file, ranks, replayed.Time, replayed.Packets, simple.Time, simple.Packets)
		}
	}
	if compared < 8 {
		t.Errorf("compared %d rows, want at least 8", compared)
	}
}

// TestPyTorchTrace: four ranks each replay the trace of one rank of a real training.
// The trace's control dependencies name callers and have cycles, so they are ignored.
func TestPyTorchTrace(t *testing.T) {
	t.Parallel()
	for _, o := range []replay.Options{{}, {Callers: true}, {Callers: true, Serialize: true}} {
		p := files(t, 4, "pytorch/pytorch_ddp.0.et.gz", o)
		r := run(t, engine.Input{
			Fabric: oneSwitch(t, 4, 400*gbps, 500_000), Replay: &engine.Replay{Schedule: p, Synchronize: true},
		}, engine.Observer{Rank: func(r *engine.Rank) error {
			if r.Computations != 3657 || r.ComputeTime > 2*r.Time || !r.Finished {
				t.Errorf("got rank %+v, want 3657 computations on two processors", *r)
			}
			return nil
		}})
		if r.Computations != 4*3657 || r.Collectives != 7 || r.Sends != r.SendsTotal {
			t.Errorf("got %+v, want %d computations, 7 collectives and all sends", r.Progress, 4*3657)
		}
	}
}

// node is a node of a trace; json returns it as JSON.
type node struct {
	id, kind string
	data     []int
	micros   int
	attrs    string // name=integer or name='text', separated by spaces
}

func (n node) json() string {
	var attrs []string
	for _, a := range strings.Fields(n.attrs) {
		name, value, _ := strings.Cut(a, "=")
		if text, isText := strings.CutPrefix(value, "'"); isText {
			attrs = append(attrs, fmt.Sprintf(`{"name":%q,"stringVal":%q}`, name, strings.TrimSuffix(text, "'")))
			continue
		}
		attrs = append(attrs, fmt.Sprintf(`{"name":%q,"int64Val":%q}`, name, value))
	}
	return fmt.Sprintf(`{"id":%q,"type":%q,"dataDeps":%s,"durationMicros":"%d","attr":[%s]}`, n.id, n.kind,
		strings.ReplaceAll(fmt.Sprint(n.data), " ", ","), n.micros, strings.Join(attrs, ","))
}

// traced builds a schedule from the nodes of each rank.
func traced(t testing.TB, o replay.Options, ranks ...[]node) *schedule.Schedule {
	t.Helper()
	p, err := build(t, o, ranks...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func build(t testing.TB, o replay.Options, ranks ...[]node) (*schedule.Schedule, error) {
	t.Helper()
	b := replay.New(len(ranks), o)
	for rank, nodes := range ranks {
		text := `{"version":"0.0.4"}`
		for _, n := range nodes {
			text += n.json()
		}
		r, err := chakra.NewReader(strings.NewReader(text), chakra.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Add(rank, r); err != nil {
			return nil, err
		}
	}
	return b.Schedule()
}

func compute(id, micros int, data ...int) node {
	return node{id: strconv.Itoa(id), kind: "COMP_NODE", micros: micros, data: data}
}

func send(id, to, tag, bytes int, data ...int) node {
	return node{id: strconv.Itoa(id), kind: "COMM_SEND_NODE", data: data, attrs: fmt.Sprintf("comm_dst=%d comm_tag=%d comm_size=%d", to, tag, bytes)}
}

func receive(id, from, tag, bytes int, data ...int) node {
	return node{id: strconv.Itoa(id), kind: "COMM_RECV_NODE", data: data, attrs: fmt.Sprintf("comm_src=%d comm_tag=%d comm_size=%d", from, tag, bytes)}
}

func collect(id, kind, bytes int, group string, data ...int) node {
	n := node{id: strconv.Itoa(id), kind: "COMM_COLL_NODE", data: data, attrs: fmt.Sprintf("comm_type=%d comm_size=%d", kind, bytes)}
	if group != "" {
		n.attrs += " pg_name='" + group + "'"
	}
	return n
}

// Times on one switch with links of 400 Gb/s and 500 ns, with packets of 4,000 B
// without headers.
const (
	onePacket = 80_000                // ps to send a packet
	overhead  = 2_000_000 + onePacket // ps there and back, with store-and-forward at the switch
)

func replayed(t *testing.T, p *schedule.Schedule, synchronize bool, o engine.Observer) *engine.Result {
	t.Helper()
	return run(t, engine.Input{
		Fabric: oneSwitch(t, max(len(p.Ranks), 2), 400*gbps, 500_000), Replay: &engine.Replay{Schedule: p, Synchronize: synchronize},
		Options: engine.Options{NICs: []engine.NIC{{Packet: engine.Packet{MSS: 4000}}}},
	}, o)
}

// TestTraceTimes: replays with each kind of dependency take the time of a closed form.
func TestTraceTimes(t *testing.T) {
	t.Parallel()
	const us = 1_000_000
	const message = onePacket + overhead
	cpu := func(n node) node { n.attrs = "is_cpu_op=1"; return n }
	for _, c := range []struct {
		when        string
		ranks       [][]node
		options     replay.Options
		synchronize bool
		want        int64
	}{
		{when: "computations one at a time", ranks: [][]node{{compute(1, 5), compute(2, 7)}, {}}, want: 12 * us},
		{when: "the host's computation beside the accelerator's", ranks: [][]node{{compute(1, 5), cpu(compute(2, 7))}, {}}, want: 7 * us},
		{when: "scaled times", options: replay.Options{Times: []float64{2, 1}}, ranks: [][]node{{compute(1, 5)}, {compute(1, 7)}}, want: 10 * us},
		{when: "a chain, later nodes first in the file", ranks: [][]node{{compute(3, 5, 2), compute(2, 7, 9, 1), compute(1, 1)}, {}}, want: 13 * us},
		{when: "a message and the computation after it", ranks: [][]node{{compute(1, 3), send(2, 1, 7, 4000, 1)}, {receive(5, 0, 7, 4000), compute(6, 4, 5)}}, want: 7*us + message},
		{when: "a receive that starts after its message arrived", ranks: [][]node{{send(2, 1, 7, 4000)}, {compute(4, 9), receive(5, 0, 7, 4000, 4), compute(6, 4, 5)}}, want: 13 * us},
		{when: "messages of one channel in order", ranks: [][]node{
			{send(1, 1, 7, 4000), send(2, 1, 7, 4000, 1)}, {receive(1, 0, 7, 4000), receive(2, 0, 7, 4000), compute(3, 5, 1)},
		}, want: message + 5*us},
		{when: "a rank's message to itself", ranks: [][]node{{send(1, 0, 7, 4000, 3), receive(2, 0, 7, 4000), compute(3, 2), compute(4, 2, 2)}, {}}, want: 4 * us},
		{when: "a CPU-side collective computes", ranks: [][]node{{{id: "1", kind: "COMM_COLL_NODE", micros: 6}}, {}}, want: 6 * us},
		{when: "a group with one member", ranks: [][]node{{collect(1, 0, 4000, "a"), compute(2, 3, 1)}, {}}, want: 3 * us},
		{when: "collectives side by side", ranks: [][]node{
			{collect(1, 0, 8000, "a"), collect(2, 0, 8000, "a")}, {collect(1, 0, 8000, "a"), collect(2, 0, 8000, "a")},
		}, want: 2 * (2*onePacket + overhead)},
		{when: "serialized collectives", options: replay.Options{Serialize: true}, ranks: [][]node{
			{collect(1, 0, 8000, "a"), collect(2, 0, 8000, "a")}, {collect(1, 0, 8000, "a"), collect(2, 0, 8000, "a")},
		}, want: 4 * message},
		{when: "serialized collectives of two groups", options: replay.Options{Serialize: true}, ranks: [][]node{
			{collect(1, 0, 8000, "a"), collect(2, 0, 8000, "b")}, {collect(1, 0, 8000, "a"), collect(2, 0, 8000, "b")},
		}, want: 2 * (2*onePacket + overhead)},
		{when: "a broadcast whose receiver comes late", ranks: [][]node{{collect(1, 5, 4000, "")}, {compute(1, 9), collect(2, 5, 4000, "", 1)}}, want: 9 * us},
		{when: "a synchronized broadcast whose receiver comes late", synchronize: true, ranks: [][]node{{collect(1, 5, 4000, "")}, {compute(1, 9), collect(2, 5, 4000, "", 1)}}, want: 9*us + message},
		{when: "reduce", ranks: [][]node{{collect(1, 1, 4000, "")}, {collect(1, 1, 4000, "")}, {collect(1, 1, 4000, "")}}, want: 2*onePacket + overhead},
		{when: "gather", ranks: [][]node{{collect(1, 3, 12000, "")}, {collect(1, 3, 12000, "")}, {collect(1, 3, 12000, "")}}, want: 2*onePacket + overhead},
		{when: "scaled sizes", options: replay.Options{Sizes: 0.5}, ranks: [][]node{{send(1, 1, 0, 16000)}, {receive(1, 0, 0, 16000)}}, want: 2*onePacket + overhead},
	} {
		t.Run(c.when, func(t *testing.T) {
			t.Parallel()
			r := replayed(t, traced(t, c.options, c.ranks...), c.synchronize, engine.Observer{})
			if d := r.Time - c.want; d < 0 || d > 10 { // shares are rounded down to whole bit/s
				t.Errorf("takes %d ps, want %d", r.Time, c.want)
			}
			if r.End != engine.Finished || r.Bytes != r.BytesTotal || r.Sends != r.SendsTotal || r.Computations != r.ComputationsTotal {
				t.Errorf("got %+v, want the whole workload", *r)
			}
		})
	}
}

// TestOneCommunication: when a rank's communication becomes free, it goes to the ready
// node that is earliest in the trace, not to the node that became ready first.
func TestOneCommunication(t *testing.T) {
	t.Parallel()
	const us = 1_000_000
	const message = onePacket + overhead
	host := func(n node) node { n.attrs = "is_cpu_op=1"; return n }
	receives := []node{receive(1, 0, 1, 4000), receive(2, 0, 2, 4000), receive(3, 0, 3, 4000), compute(4, 9, 2)}
	for when, sender := range map[string][]node{
		// The last send can start after 1 us, the one before it after 2 us, and the
		// first is acknowledged after 2.16 us.
		"two sends wait": {send(1, 1, 1, 4000), compute(4, 1), host(compute(5, 2)), send(2, 1, 2, 4000, 5), send(3, 1, 3, 4000, 4)},
		// The last send waits from the beginning; the one before it becomes ready when
		// the first ends.
		"one send becomes ready": {send(1, 1, 1, 4000), send(2, 1, 2, 4000, 1), send(3, 1, 3, 4000)},
	} {
		r := run(t, engine.Input{
			Fabric:  oneSwitch(t, 2, 400*gbps, 500_000),
			Replay:  &engine.Replay{Schedule: traced(t, replay.Options{}, sender, receives), Exclusive: true},
			Options: engine.Options{NICs: []engine.NIC{{Packet: engine.Packet{MSS: 4000}}}},
		}, engine.Observer{})
		if want := int64(2*message + 9*us); r.Time != want {
			t.Errorf("%s: takes %d ps, want %d", when, r.Time, want)
		}
	}
}

// TestTraceNames: observed collectives and transfers have the names, sizes and tags of
// the trace.
func TestTraceNames(t *testing.T) {
	t.Parallel()
	var collectives, transfers []string
	replayed(t, traced(t, replay.Options{},
		[]node{collect(1, 0, 8000, "tensor"), send(2, 1, 42, 4000, 1), collect(3, 9, 0, "", 2)},
		[]node{collect(1, 0, 8000, "tensor"), receive(2, 0, 42, 4000, 1), collect(3, 9, 0, "", 2)},
	), true, engine.Observer{
		Collective: func(c *engine.Collective) error {
			collectives = append(collectives, fmt.Sprintf("%d %s %s %s %d of %d", c.ID, c.GroupName, c.OperationType, c.Algorithm, c.DataSize, c.GroupSize))
			return nil
		},
		Transfer: func(tr *engine.Transfer) error {
			transfers = append(transfers, fmt.Sprintf("%d %s %d", tr.Collective.ID, tr.Collective.OperationType, tr.Step))
			return nil
		},
	})
	if want := []string{"0 tensor allReduce ring 8000 of 2", "1 world barrier ring 1 of 2"}; !slices.Equal(collectives, want) {
		t.Errorf("got collectives %q, want %q", collectives, want)
	}
	if want := "-1 send 42"; len(transfers) != 9 || transfers[4] != want {
		t.Errorf("got transfers %q, want nine with %q in the middle", transfers, want)
	}
}

// TestTraceDeadlock: if ranks wait for each other, the run fails with an error that
// names a waiting node and what it waits for.
func TestTraceDeadlock(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ranks [][]node
		want  string
	}{
		{
			[][]node{{receive(11, 1, 0, 1), send(12, 1, 0, 1, 11)}, {receive(21, 0, 0, 1), send(22, 0, 0, 1, 21)}},
			"deadlock: 2 of 2 ranks wait and no event is left; rank 0 waits in node 11 for the message of rank 1 with tag 0 (its node 22); " +
				"the last finished collective is none",
		},
		{
			[][]node{{collect(11, 0, 8, "a"), collect(12, 0, 8, "b", 11)}, {collect(21, 0, 8, "b"), collect(22, 0, 8, "a", 21)}},
			"deadlock: 2 of 2 ranks wait and no event is left; rank 0 waits in node 11 for allReduce 0 of group a, which rank 1 has not reached (its node 22); " +
				"the last finished collective is none",
		},
	} {
		p := traced(t, replay.Options{}, c.ranks...)
		_, err := engine.Run(t.Context(), engine.Input{
			Fabric: oneSwitch(t, 2, 400*gbps, 500_000), Replay: &engine.Replay{Schedule: p, Synchronize: true},
		}, engine.Observer{})
		if fmt.Sprint(err) != c.want {
			t.Errorf("got error %v\nwant %s", err, c.want)
		}
	}
}

// TestTraceLimit: a run that reaches its limit reports the unfinished ranks and
// collectives.
func TestTraceLimit(t *testing.T) {
	t.Parallel()
	var open []string
	r := run(t, engine.Input{
		Fabric: oneSwitch(t, 2, 400*gbps, 500_000), Options: engine.Options{Limit: 1_000_000},
		Replay: &engine.Replay{Schedule: traced(t, replay.Options{}, []node{collect(1, 0, 8, "a")}, []node{collect(1, 0, 8, "a")})},
	}, engine.Observer{Collective: func(c *engine.Collective) error {
		open = append(open, fmt.Sprintf("%s finished: %v", c.GroupName, c.Finished))
		return nil
	}})
	if want := []string{"a finished: false"}; r.End != engine.Limited || len(r.Unfinished) != 2 || !slices.Equal(open, want) {
		t.Errorf("got %+v with collectives %q, want two unfinished ranks and %q", *r, open, want)
	}
}
