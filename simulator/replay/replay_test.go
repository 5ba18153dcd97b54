package replay_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"netsim/simulator/chakra"
	"netsim/simulator/replay"
	"netsim/simulator/schedule"
)

// node returns a node of a trace in JSON. Dependencies are lists of ids as text.
func node(id int, kind, data, control, attrs string) string {
	text := fmt.Sprintf(`{"id":"%d","type":%q,"dataDeps":[%s],"ctrlDeps":[%s],"attr":[`, id, kind, data, control)
	for i, a := range strings.Fields(attrs) {
		if i > 0 {
			text += ","
		}
		name, value, _ := strings.Cut(a, "=")
		member := "int64Val"
		if name == "pg_name" {
			member = "stringVal"
		}
		text += fmt.Sprintf(`{"name":%q,%q:%q}`, name, member, value)
	}
	return text + "]}"
}

const (
	compute = "COMP_NODE"
	send    = "COMM_SEND_NODE"
	receive = "COMM_RECV_NODE"
	collect = "COMM_COLL_NODE"
)

func build(t testing.TB, o replay.Options, ranks ...string) (*schedule.Schedule, error) {
	t.Helper()
	p, _, err := buildWarned(t, o, ranks...)
	return p, err
}

func buildWarned(t testing.TB, o replay.Options, ranks ...string) (*schedule.Schedule, replay.Warnings, error) {
	t.Helper()
	b := replay.New(len(ranks), o)
	for rank, nodes := range ranks {
		r, err := chakra.NewReader(strings.NewReader(`{"version":"0.0.4"}`+nodes), chakra.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Add(rank, r); err != nil {
			return nil, b.Warnings(), err
		}
	}
	p, err := b.Schedule()
	return p, b.Warnings(), err
}

// TestRefusals: a workload that cannot be replayed is refused with an error that names the
// rank and the node.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]struct {
		options replay.Options
		ranks   []string
	}{
		"rank 0, node 5: the message to rank 1 with tag 7 is not received": {
			ranks: []string{node(5, send, "", "", "comm_dst=1 comm_tag=7 comm_size=1"), node(6, receive, "", "", "comm_src=0 comm_tag=8 comm_size=1")},
		},
		"rank 1, node 6: the message from rank 0 with tag 8 is not sent": {
			ranks: []string{node(5, send, "", "", "comm_dst=1 comm_tag=9 comm_size=1"), node(6, receive, "", "", "comm_src=0 comm_tag=8 comm_size=1")},
		},
		"rank 1, node 9: the message from rank 0 with tag 8 is not sent": {
			ranks: []string{node(5, send, "", "", "comm_dst=1 comm_tag=8 comm_size=1"),
				node(6, receive, "", "", "comm_src=0 comm_tag=8 comm_size=1") + node(9, receive, "", "", "comm_src=0 comm_tag=8 comm_size=1")},
		},
		"rank 1, node 2: its data dependencies lead back to itself": {
			ranks: []string{"", node(1, compute, "", "", "") + node(2, compute, "3", "", "") + node(3, compute, "2", "", "")},
		},
		"rank 0, node 4: its data dependencies lead back to itself": {ranks: []string{node(4, compute, "4", "", "")}},
		"rank 0, node 4: another node has the same id":              {ranks: []string{node(4, compute, "", "", "") + node(4, compute, "", "", "")}},
		"rank 0, node 4: comm_dst is missing":                       {ranks: []string{node(4, send, "", "", "comm_size=1")}},
		"rank 0, node 4: comm_src is rank 9, and there are 1 ranks": {ranks: []string{node(4, receive, "", "", "comm_src=9")}},
		"rank 0, node 4: comm_src is rank 1":                        {ranks: []string{node(4, send, "", "", "comm_src=1 comm_dst=1"), ""}},
		"rank 0, node 4: comm_size must be at most 1099511627776, got 1099511627777": {
			ranks: []string{node(4, collect, "", "", "comm_type=0 comm_size=1099511627777")},
		},
		`rank 0, node 4: rank 1 has no ALL_REDUCE number 1 of process group ""`: {
			ranks: []string{node(4, collect, "", "", "comm_type=0 comm_size=1"), node(4, collect, "", "", "comm_type=2 comm_size=1")},
		},
		`rank 0, node 5: rank 1 has no ALL_REDUCE number 2 of process group "a"`: {
			ranks: []string{node(4, collect, "", "", "comm_type=0 comm_size=1 pg_name=a") + node(5, collect, "", "", "comm_type=0 comm_size=1 pg_name=a"),
				node(4, collect, "", "", "comm_type=0 comm_size=1 pg_name=a")},
		},
		`rank 0, node 4: process group "b" is not defined in comm_groups.json`: {
			options: replay.Options{Groups: chakra.Groups{"a": {0}}}, ranks: []string{node(4, collect, "", "", "comm_type=0 comm_size=1 pg_name=b")},
		},
		"rank 1, node 4: the rank is not a member of process group \"a\"": {
			options: replay.Options{Groups: chakra.Groups{"a": {0}}},
			ranks:   []string{node(4, collect, "", "", "comm_type=0 comm_size=1 pg_name=a"), node(4, collect, "", "", "comm_type=0 comm_size=1 pg_name=a")},
		},
		"rank 0, node 4: algorithm 'recursiveHalvingDoubling' requires a power-of-two group size, got 3": {
			options: replay.Options{Algorithms: map[string]string{"allReduce": "recursiveHalvingDoubling"}},
			ranks:   slices.Repeat([]string{node(4, collect, "", "", "comm_type=0 comm_size=1")}, 3),
		},
		"rank 0, node 4: a communication of 0 bytes counts as one of 1; AbortOnChakraWarning is on": {
			options: replay.Options{Abort: true}, ranks: []string{node(4, collect, "", "", "comm_type=0")},
		},
		"rank 0, node 1: the traces take more than the 0 MiB that replaying may hold": {
			options: replay.Options{MaxBytes: 1}, ranks: []string{node(1, compute, "", "", "")},
		},
		"rank 1, node 2: the traces take more than the 0 MiB that replaying may hold": { // a group with a long name
			options: replay.Options{MaxBytes: 400},
			ranks:   []string{node(1, compute, "", "", ""), node(2, collect, "", "", "comm_type=0 comm_size=1 pg_name="+strings.Repeat("a", 250))},
		},
		"rank 0, node 3: the traces take more than the 0 MiB that replaying may hold": { // a collective's plan
			options: replay.Options{MaxBytes: 500}, ranks: []string{node(3, collect, "", "", "comm_type=0 comm_size=1")},
		},
	} {
		if _, err := build(t, c.options, c.ranks...); fmt.Sprint(err) != want {
			t.Errorf("got error %v\nwant %s", err, want)
		}
	}
}

// TestTwoTraces: a second trace of a rank is refused.
func TestTwoTraces(t *testing.T) {
	t.Parallel()
	b := replay.New(1, replay.Options{})
	var err error
	for range 2 {
		r, e := chakra.NewReader(strings.NewReader(`{"version":"0.0.4"}`), chakra.Limits{})
		if e != nil {
			t.Fatal(e)
		}
		err = b.Add(0, r)
	}
	if want := "rank 0 has two traces"; fmt.Sprint(err) != want {
		t.Errorf("got error %v, want %s", err, want)
	}
}

// TestWarnings: doubtful content is replayed with a warning.
func TestWarnings(t *testing.T) {
	t.Parallel()
	p, found, err := buildWarned(t, replay.Options{},
		node(1, compute, "77", "", "num_ops=9")+node(2, send, "", "", "comm_dst=1 comm_size=10")+node(3, collect, "", "4", "comm_type=0 comm_size=5")+node(4, compute, "", "3", ""),
		node(2, receive, "", "", "comm_src=0 comm_size=20")+node(3, collect, "", "", "comm_type=0 comm_size=7"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"rank 0, node 1: a computation of 9 operations has no duration and takes no time",
		"rank 0, node 1: 1 dependencies name nodes that are not in the file; the first names 77",
		"rank 0: control dependencies form a cycle and are ignored",
		"rank 0, node 2: rank 0 sends 10 bytes and rank 1 receives 20; the sent size counts",
		`rank 0, node 3: ALL_REDUCE of process group "" has 5 bytes, of others 7; the most count`,
	}
	if diff := cmp.Diff(want, found.First); diff != "" || found.Count != len(want) {
		t.Errorf("got %d warnings (-want +got):\n%s", found.Count, diff)
	}
	if p.Plans[0].DataSize != 7 {
		t.Errorf("the collective has %d bytes, want the 7 of rank 1", p.Plans[0].DataSize)
	}
}

// TestControl: nodes wait for control dependencies, unless Options.Callers is set.
func TestControl(t *testing.T) {
	t.Parallel()
	trace := node(1, compute, "", "2", "") + node(2, compute, "", "", "")
	followed, err := build(t, replay.Options{}, trace)
	if err != nil {
		t.Fatal(err)
	}
	if nodes := followed.Ranks[0].Nodes; nodes[0].ID != 2 || nodes[1].Waits != 1 {
		t.Errorf("got nodes %+v, want node 1 to wait for node 2", nodes)
	}
	callers, found, err := buildWarned(t, replay.Options{Callers: true}, trace)
	if err != nil {
		t.Fatal(err)
	}
	if nodes := callers.Ranks[0].Nodes; nodes[0].ID != 1 || nodes[1].Waits != 0 || found.Count > 0 {
		t.Errorf("got nodes %+v and warnings %v, want the file's order without waits or warnings", nodes, found.First)
	}
}

// TestOrder: with any dependencies, a node comes after the nodes that it depends on, and
// waits for all of them, directly or through other nodes.
func TestOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(rt, "nodes")
		ids := rapid.Permutation(slices.Collect(func(yield func(int) bool) {
			for i := range n {
				yield(10 * i)
			}
		})).Draw(rt, "ids")
		file := rapid.Permutation(slices.Clone(ids)).Draw(rt, "file")
		needs := map[int][]int{}
		for i, id := range ids {
			for j := range i {
				if rapid.Bool().Draw(rt, "needs") {
					needs[id] = append(needs[id], ids[j])
				}
			}
		}
		text := ""
		for _, id := range file {
			text += node(id, compute, strings.Trim(strings.ReplaceAll(fmt.Sprint(needs[id]), " ", ","), "[]"), "", "")
		}
		p, err := build(t, replay.Options{}, text)
		if err != nil {
			rt.Fatal(err)
		}
		r := p.Ranks[0]
		position := map[int]int{}
		reach := make([]map[int32]bool, n) // the nodes that follow each node, directly or not
		waits := make([]int32, n)
		for i := n - 1; i >= 0; i-- {
			position[int(r.Nodes[i].ID)] = i
			reach[i] = map[int32]bool{}
			for _, f := range r.Followers(int32(i)) {
				waits[f]++
				if int(f) <= i {
					rt.Fatalf("node %d releases the earlier node %d", i, f)
				}
				reach[i][f] = true
				for g := range reach[f] {
					reach[i][g] = true
				}
			}
		}
		for id, on := range needs {
			for _, other := range on {
				if !reach[position[other]][int32(position[id])] {
					rt.Fatalf("node %d does not wait for %d", id, other)
				}
			}
		}
		for i := range waits {
			if waits[i] != r.Nodes[i].Waits {
				rt.Fatalf("node %d waits for %d nodes, want the %d that release it", i, r.Nodes[i].Waits, waits[i])
			}
		}
	})
}

// TestRealTrace: the builder drops most dependencies of a real trace, because others imply
// them, and counts the trace's CPU-side collectives as computations.
func TestRealTrace(t *testing.T) {
	t.Parallel()
	f, err := os.Open("../chakra/testdata/pytorch/pytorch_ddp.0.et.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := chakra.NewReader(f, chakra.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	b := replay.New(1, replay.Options{Callers: true})
	if err := b.Add(0, r); err != nil {
		t.Fatal(err)
	}
	p, err := b.Schedule()
	if err != nil {
		t.Fatal(err)
	}
	followers := 0
	for i := range p.Ranks[0].Nodes {
		followers += len(p.Ranks[0].Followers(int32(i)))
	}
	t.Logf("%d of 181,878 dependencies are kept", followers)
	if len(p.Ranks[0].Nodes) != 3664 || len(p.Collectives) != 7 || p.Computations != 3657 || followers > 20_000 {
		t.Errorf("got %d nodes, %d collectives, %d computations, %d dependencies; want 3664, 7, 3657 and at most 20,000",
			len(p.Ranks[0].Nodes), len(p.Collectives), p.Computations, followers)
	}
}
