package chakra_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"netsim/simulator/chakra"
)

func ExampleInspect() {
	var files []chakra.File
	for rank := range 8 {
		name := fmt.Sprintf("custom_allreduce.%d.et.gz", rank)
		files = append(files, chakra.File{Name: name, Open: func() (io.ReadCloser, error) { return os.Open("testdata/ring/" + name) }})
	}
	report, err := chakra.Inspect(files, nil, chakra.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	first := report.Traces[0]
	fmt.Println(report.Valid(), len(report.Traces), "ranks")
	fmt.Println(first.Nodes, "nodes,", first.Compute, "µs,", first.Sends.Count, "sends of", first.Sends.Bytes, "bytes in all")
	// Output:
	// true 8 ranks
	// 35 nodes, 49 µs, 14 sends of 1835008 bytes in all
}

// Real workloads are valid, and their files are sorted by rank.
func TestRealWorkloads(t *testing.T) {
	t.Parallel()
	tests := []struct {
		pattern  string
		files    int
		findings []string
	}{
		{"microbench/*.et", 4, nil},
		{"gzip/*", 4, nil},
		{"json/*", 4, nil},
		{"ring/*", 8, nil},
		{"pytorch/*", 1, []string{"pytorch_ddp.0.et.gz: node 216: 0 data and 1277 control dependencies name nodes that are not in the file; the first names 3"}},
		{"graph/rank_0*", 1, []string{"rank_0.chakra.json: node 216: 0 data and 7 control dependencies name nodes that are not in the file; the first names 3"}},
	}
	for _, tt := range tests {
		t.Run(tt.pattern, func(t *testing.T) {
			t.Parallel()
			names, err := filepath.Glob("testdata/" + tt.pattern)
			if err != nil {
				t.Fatal(err)
			}
			slices.Reverse(names)
			var files []chakra.File
			for _, name := range names {
				files = append(files, chakra.File{Name: filepath.Base(name), Open: func() (io.ReadCloser, error) { return os.Open(name) }})
			}
			report, err := chakra.Inspect(files, nil, chakra.Limits{})
			if err != nil || !report.Valid() || len(report.Traces) != tt.files {
				t.Errorf("got %+v, %v, want a valid report with %d traces", report, err, tt.files)
			}
			if diff := cmp.Diff(tt.findings, findingsOf(report)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			for rank, trace := range report.Traces {
				if trace.Rank != rank {
					t.Errorf("%s is the trace of rank %d, want %d", trace.File, trace.Rank, rank)
				}
			}
		})
	}
}

// A Trace sums up the nodes of its file.
func TestFigures(t *testing.T) {
	t.Parallel()
	file := head().
		frame(node(1, chakra.ComputeNode).number(7, 5).number(4, 1)).
		frame(node(2, chakra.CollectiveNode).number(7, 6).number(5, 1)).
		frame(node(3, chakra.CollectiveNode).number(7, 7).attribute("comm_type", 9, 0).attribute("comm_size", 9, 10).group("g")).
		frame(node(4, chakra.CollectiveNode).attribute("comm_type", 9, 0).attribute("comm_size", 9, 1<<63-1).group("g")).
		frame(node(5, chakra.CollectiveNode).attribute("comm_type", 9, 0).attribute("comm_size", 9, 1<<63-1).group("g")).
		frame(node(6, chakra.CollectiveNode).attribute("comm_type", 9, 9)).
		frame(node(7, chakra.SendNode).attribute("comm_dst", 7, 0).attribute("comm_size", 9, 3)).
		frame(node(8, chakra.ReceiveNode).attribute("comm_src", 7, 0).attribute("comm_size", 9, 3)).
		frame(node(9, chakra.MemoryLoadNode).number(7, 100))
	report := inspect(t, chakra.Groups{"g": {0}}, file)
	want := []chakra.Trace{{
		File: "a.0.et", Format: chakra.FormatBinary, Metadata: chakra.Metadata{Version: "0.0.4"},
		Nodes: 9, Compute: 11, Sends: chakra.Traffic{Count: 1, Bytes: 3}, Receives: chakra.Traffic{Count: 1, Bytes: 3}, Data: 1, Control: 1,
		Collectives: []chakra.CollectiveTraffic{
			{Kind: chakra.Barrier, First: 6, Traffic: chakra.Traffic{Count: 1}},
			{Group: "g", Kind: chakra.AllReduce, First: 3, Traffic: chakra.Traffic{Count: 3, Bytes: 1<<64 - 1}},
		},
	}}
	if diff := cmp.Diff(want, report.Traces); diff != "" || len(report.Findings) != 0 {
		t.Errorf("findings %v, want none; traces (-want +got):\n%s", report.Findings, diff)
	}
}

// Every fault of a workload gets its finding.
func TestFindings(t *testing.T) {
	t.Parallel()
	send := func(id, to, tag, size uint64) message {
		return node(id, chakra.SendNode).attribute("comm_dst", 7, to).attribute("comm_tag", 7, tag).attribute("comm_size", 9, size)
	}
	receive := func(id, from, tag, size uint64) message {
		return node(id, chakra.ReceiveNode).attribute("comm_src", 7, from).attribute("comm_tag", 7, tag).attribute("comm_size", 9, size)
	}
	collect := func(id, kind uint64) message {
		return node(id, chakra.CollectiveNode).attribute("comm_type", 9, kind).attribute("comm_size", 9, 8)
	}
	file := func(records ...message) message {
		m := head()
		for _, r := range records {
			m = m.frame(r)
		}
		return m
	}
	compute := func(id uint64, needs ...uint64) message {
		m := node(id, chakra.ComputeNode)
		for _, need := range needs {
			m = m.number(5, need)
		}
		return m
	}
	pair := chakra.Groups{"g": {0, 1}, "one": {1}, "wide": {0, 7}}
	const warning = "warning: "
	tests := map[string]struct {
		groups   chakra.Groups
		files    []message
		findings []string
	}{
		"nothing":            {nil, []message{file(compute(1), compute(2, 1))}, nil},
		"no node":            {nil, []message{head()}, []string{warning + "a.0.et: the file has no node", "the traceset is empty: no rank file has a node"}},
		"one without a node": {nil, []message{head(), file(compute(1))}, []string{warning + "a.0.et: the file has no node"}},
		"unreadable":         {nil, []message{file(compute(1)), file(node(4, 99))}, []string{"a.1.et: node 4 at byte 8: node type 99 is not in the schema, which has 0 to 10"}},
		"id twice":           {nil, []message{file(compute(1), compute(5), compute(1))}, []string{"a.0.et: node 1: an earlier node has the same id"}},
		"missing":            {nil, []message{file(compute(5, 9, 3), compute(6, 3, 5))}, []string{warning + "a.0.et: node 5: 3 data and 0 control dependencies name nodes that are not in the file; the first names 3"}},
		"order reversed":     {nil, []message{file(compute(3, 2, 1), compute(2, 1), compute(1))}, nil},
		"needs itself":       {nil, []message{file(compute(1), compute(2, 2))}, []string{"a.0.et: node 2: data dependencies form a cycle: 2 needs 2"}},
		"calls itself":       {nil, []message{file(compute(1), compute(2).number(4, 2))}, nil},
		"cycle":              {nil, []message{file(compute(1, 3), compute(2, 1), compute(3, 2), compute(4, 3))}, []string{"a.0.et: node 1: data dependencies form a cycle: 1 needs 3 needs 2 needs 1"}},
		"cycle far on":       {nil, []message{file(compute(2, 1), compute(1), compute(7), compute(8, 9), compute(9, 7, 8))}, []string{"a.0.et: node 8: data dependencies form a cycle: 8 needs 9 needs 8"}},
		"cycle past others":  {nil, []message{file(compute(10, 14), compute(11, 12), compute(12), compute(13), compute(14, 10))}, []string{"a.0.et: node 10: data dependencies form a cycle: 10 needs 14 needs 10"}},
		"cycle of the first": {nil, []message{file(compute(10, 13), compute(11, 13), compute(12), compute(13, 10))}, []string{"a.0.et: node 10: data dependencies form a cycle: 10 needs 13 needs 10"}},
		"messages":           {nil, []message{file(send(1, 1, 3, 8), receive(2, 1, 0, 9)), file(receive(1, 0, 3, 8), send(2, 0, 0, 9))}, nil},
		"tag not given":      {nil, []message{file(node(1, chakra.SendNode).attribute("comm_dst", 7, 1).attribute("comm_size", 9, 1)), file(receive(1, 0, 0, 1))}, nil},
		"no receive":         {nil, []message{file(send(1, 1, 3, 8), send(2, 1, 3, 8)), file(receive(1, 0, 3, 8))}, []string{"a.0.et: node 2: rank 0 sends 2 messages to rank 1 with tag 3, which receives 1"}},
		"no send":            {nil, []message{file(compute(1)), file(receive(7, 0, 3, 8))}, []string{"a.1.et: node 7: rank 1 receives 1 messages from rank 0 with tag 3, which sends 0"}},
		"other tag":          {nil, []message{file(send(1, 1, 3, 8)), file(receive(7, 0, 4, 8))}, []string{"a.0.et: node 1: rank 0 sends 1 messages to rank 1 with tag 3, which receives 0", "a.1.et: node 7: rank 1 receives 1 messages from rank 0 with tag 4, which sends 0"}},
		"other size":         {nil, []message{file(send(1, 1, 3, 8)), file(receive(7, 0, 3, 9))}, []string{warning + "a.0.et: node 1: rank 0 sends to rank 1 with tag 3 messages of other sizes (8 bytes in all) than that rank receives (9 bytes)"}},
		"sizes exchanged":    {nil, []message{file(send(1, 1, 3, 8), send(2, 1, 3, 9)), file(receive(7, 0, 3, 9), receive(8, 0, 3, 8))}, nil},
		"peer missing":       {nil, []message{file(node(1, chakra.SendNode).attribute("comm_size", 9, 1))}, []string{"a.0.et: node 1: comm_dst is missing"}},
		"peer beyond":        {nil, []message{file(receive(1, 1, 0, 1))}, []string{"a.0.et: node 1: comm_src is rank 1, and there are 1 ranks"}},
		"not its own":        {nil, []message{file(send(1, 0, 0, 1).attribute("comm_src", 7, 1)), file(compute(1))}, []string{"a.0.et: node 1: comm_src is rank 1 in the file of rank 0"}},
		"no bytes":           {nil, []message{file(send(1, 0, 0, 0), receive(2, 0, 0, 0))}, []string{warning + "a.0.et: node 1: 2 communications move 0 bytes; this is the first"}},
		"collectives":        {nil, []message{file(collect(1, 0), collect(2, 6)), file(collect(1, 6), collect(2, 0))}, nil},
		"one too few":        {nil, []message{file(collect(1, 0), collect(2, 0)), file(collect(1, 0))}, []string{`a.0.et: node 1: rank 0 has 2 ALL_REDUCE of process group "", and rank 1 has 1`}},
		"one has none":       {nil, []message{file(compute(1)), file(collect(5, 6))}, []string{`a.1.et: node 5: rank 1 has 1 ALL_TO_ALL of process group "", and rank 0 has 0`}},
		"group":              {pair, []message{file(collect(1, 0).group("g")), file(collect(1, 0).group("g"), collect(2, 0).group("one"))}, nil},
		"group not defined":  {pair, []message{file(collect(1, 0).group("x")), file(collect(3, 1).group("x"))}, []string{`a.0.et: node 1: process group "x" is not defined in comm_groups.json`}},
		"no member":          {pair, []message{file(collect(1, 0).group("one")), file(collect(1, 0).group("one"))}, []string{`a.0.et: node 1: rank 0 is not a member of process group "one"`}},
		"member too few":     {pair, []message{file(collect(1, 0).group("g")), file(compute(1))}, []string{`a.0.et: node 1: rank 0 has 1 ALL_REDUCE of process group "g", and rank 1 has 0`}},
		"group too wide":     {pair, []message{file(collect(1, 0).group("wide")), file(compute(1))}, []string{`a.0.et: node 1: process group "wide" has rank 7, and there are 2 ranks`}},
		"groups nowhere":     {nil, []message{file(collect(1, 0).group("x")), file(compute(1))}, []string{warning + `a.0.et: node 1: process group "x" is not defined (there is no comm_groups.json); its members are the ranks that use it`}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report := inspect(t, tt.groups, tt.files...)
			var got []string
			warnings := 0
			for i, text := range findingsOf(report) {
				if report.Findings[i].Warning {
					text = warning + text
					warnings++
				}
				got = append(got, text)
			}
			if diff := cmp.Diff(tt.findings, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			if report.Warnings != warnings || report.Errors != len(got)-warnings || report.Valid() != (len(got) == warnings) {
				t.Errorf("got %d errors, %d warnings, valid %v; want %d and %d", report.Errors, report.Warnings, report.Valid(), len(got)-warnings, warnings)
			}
		})
	}
}

// Files whose names do not have the ranks 0 to n-1 once each get findings.
func TestRanks(t *testing.T) {
	t.Parallel()
	const form = ": the name has to be rank_<n>.chakra.json or <prefix>.<n>.et"
	tests := []struct {
		names    []string
		findings []string
	}{
		{nil, []string{"the traceset is empty: it has no rank file"}},
		{[]string{"rank_1.chakra.json", "rank_0.chakra.json.gz"}, nil},
		{[]string{"a.b.1.et.zst", "rank_2.chakra.json.zst", "x.0.et"}, nil},
		{[]string{"a.10.et", "a.0.et"}, []string{"a.10.et: rank 10 is there, but rank 1 is missing"}},
		{[]string{"a.1.et"}, []string{"a.1.et: rank 1 is there, but rank 0 is missing"}},
		{[]string{"a.0.et", "b.0.et"}, []string{"b.0.et: rank 0 already has the file a.0.et"}},
		{[]string{"a.0.json"}, []string{"a.0.json" + form}},
		{[]string{".0.et", "0.et", "a.x.et", "a.-1.et", "a..et", "a.0.et.gz.zst"}, []string{".0.et" + form, "0.et" + form, "a.x.et" + form, "a.-1.et" + form, "a..et" + form, "a.0.et.gz.zst" + form}},
		{[]string{"rank_.chakra.json", "rank_1.json", "rank0.chakra.json", "rank_99999999999.chakra.json"}, []string{"rank_.chakra.json" + form, "rank_1.json" + form, "rank0.chakra.json" + form, "rank_99999999999.chakra.json" + form}},
	}
	for _, tt := range tests {
		t.Run(strings.Join(tt.names, " "), func(t *testing.T) {
			t.Parallel()
			var files []chakra.File
			for _, name := range tt.names {
				files = append(files, fileOf(name, head().frame(node(1, chakra.ComputeNode))))
			}
			report, err := chakra.Inspect(files, nil, chakra.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.findings, findingsOf(report)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

// An error of opening or reading a file is returned, and is not a finding.
func TestInspectionThatFailsIsNoVerdict(t *testing.T) {
	t.Parallel()
	gone := chakra.File{Name: "a.0.et", Open: func() (io.ReadCloser, error) { return nil, os.ErrNotExist }}
	torn := chakra.File{Name: "a.0.et", Open: func() (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(bytes.NewReader(head()), iotest.ErrReader(io.ErrClosedPipe))), nil
	}}
	if _, err := chakra.Inspect([]chakra.File{gone}, nil, chakra.Limits{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got error %v, want %v", err, os.ErrNotExist)
	}
	if _, err := chakra.Inspect([]chakra.File{torn}, nil, chakra.Limits{}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got error %v, want %v", err, io.ErrClosedPipe)
	}
}

// Limits.Tangle bounds the nodes that are kept because they are out of order.
func TestTanglesAreBounded(t *testing.T) {
	t.Parallel()
	file := head()
	for id := uint64(9); id > 0; id-- {
		file = file.frame(node(id, chakra.ComputeNode).number(5, id-1))
	}
	file = file.frame(node(0, chakra.ComputeNode))
	for limit, want := range map[int][]string{
		8:  {"a.0.et: more than 8 nodes are out of order: named before they come, or after a node with a higher id"},
		19: nil,
		18: {"a.0.et: more than 18 nodes and dependencies are in a part of the file where nodes come before their dependencies; write each node after its dependencies"},
	} {
		report, err := chakra.Inspect([]chakra.File{fileOf("a.0.et", file)}, nil, chakra.Limits{Tangle: limit})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, findingsOf(report)); diff != "" {
			t.Errorf("a limit of %d (-want +got):\n%s", limit, diff)
		}
	}
}

// ReadGroups sorts the ranks of each group and refuses other documents.
func TestReadGroups(t *testing.T) {
	t.Parallel()
	got, err := chakra.ReadGroups(strings.NewReader(`{"1": [2, 0], "tp": [1]}`))
	if diff := cmp.Diff(chakra.Groups{"1": {0, 2}, "tp": {1}}, got); diff != "" || err != nil {
		t.Errorf("got error %v, groups (-want +got):\n%s", err, diff)
	}
	for text, want := range map[string]string{
		``:              "process groups must be an object with a list of ranks for each name",
		`null`:          "process groups must be an object with a list of ranks for each name",
		`[1]`:           "process groups must be an object with a list of ranks for each name",
		`{"1":["a"]}`:   "process groups must be an object with a list of ranks for each name",
		`{"1":[]}`:      `process group "1" must have ranks, none below 0, and a name of at most 255 bytes`,
		`{"1":[-1]}`:    `process group "1" must have ranks, none below 0, and a name of at most 255 bytes`,
		`{"1":[4,3,4]}`: `process group "1" has a rank twice`,
	} {
		if _, err := chakra.ReadGroups(strings.NewReader(text)); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
	if _, err := chakra.ReadGroups(iotest.ErrReader(io.ErrClosedPipe)); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got error %v, want %v", err, io.ErrClosedPipe)
	}
}

// A cycle is reported if and only if there is one, in any order of the nodes.
func TestCyclesOfAnyGraph(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfNDistinct(rapid.Uint64Range(0, 40), 1, 20, rapid.ID[uint64]).Draw(t, "ids")
		needs := map[uint64][]uint64{}
		file := head()
		for _, id := range ids {
			needs[id] = rapid.SliceOfN(rapid.Uint64Range(0, 40), 0, 2).Draw(t, "needs")
			record := node(id, chakra.ComputeNode)
			for _, need := range needs[id] {
				record = record.number(5, need)
			}
			file = file.frame(record)
		}
		report, err := chakra.Inspect([]chakra.File{fileOf("a.0.et", file)}, nil, chakra.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if want := cyclic(needs); report.Valid() == want {
			t.Fatalf("got findings %q, want a cycle: %v", findingsOf(report), want)
		}
	})
}

// cyclic reports whether dependencies have a cycle. It removes nodes whose dependencies
// are all removed or missing, until no such node is left.
func cyclic(needs map[uint64][]uint64) bool {
	for {
		n := len(needs)
		for id, of := range needs {
			if !slices.ContainsFunc(of, func(need uint64) bool { _, left := needs[need]; return left }) {
				delete(needs, id)
			}
		}
		if len(needs) == n {
			return n > 0
		}
	}
}

// A channel gets a finding if and only if its sends and receives differ in number.
func TestPairingOfAnyMessages(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const ranks = 3
		files := []message{head().frame(node(1000, chakra.ComputeNode)), head(), head()}
		balance := map[[3]uint64]int{}
		for id := range rapid.Uint64Range(0, 30).Draw(t, "messages") {
			from, to := rapid.Uint64Range(0, ranks-1).Draw(t, "from"), rapid.Uint64Range(0, ranks-1).Draw(t, "to")
			tag := rapid.Uint64Range(0, 2).Draw(t, "tag")
			if rapid.IntRange(0, 9).Draw(t, "lost send") > 0 {
				files[from] = files[from].frame(node(id, chakra.SendNode).attribute("comm_dst", 7, to).attribute("comm_tag", 7, tag).attribute("comm_size", 9, 5))
				balance[[3]uint64{from, to, tag}]++
			}
			if rapid.IntRange(0, 9).Draw(t, "lost receive") > 0 {
				files[to] = files[to].frame(node(100+id, chakra.ReceiveNode).attribute("comm_src", 7, from).attribute("comm_tag", 7, tag).attribute("comm_size", 9, 5))
				balance[[3]uint64{from, to, tag}]--
			}
		}
		wrong := 0
		for _, n := range balance {
			if n != 0 {
				wrong++
			}
		}
		report, err := chakra.Inspect([]chakra.File{fileOf("a.0.et", files[0]), fileOf("a.1.et", files[1]), fileOf("a.2.et", files[2])}, nil, chakra.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if report.Errors != wrong {
			t.Fatalf("got findings %q, want one for each of %d channels", findingsOf(report), wrong)
		}
	})
}

func inspect(t *testing.T, groups chakra.Groups, contents ...message) *chakra.Report {
	t.Helper()
	var files []chakra.File
	for rank, content := range contents {
		files = append(files, fileOf(fmt.Sprintf("a.%d.et", rank), content))
	}
	report, err := chakra.Inspect(files, groups, chakra.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func fileOf(name string, content []byte) chakra.File {
	return chakra.File{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }}
}

func findingsOf(report *chakra.Report) []string {
	var all []string
	for _, f := range report.Findings {
		all = append(all, f.String())
	}
	return all
}
