package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"netsim/simulator/chakra"
)

// TestConvert: the command writes a trace for each rank of a schedule, and says what is wrong
// with a file that is none.
func TestConvert(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	schedule, out := filepath.Join(dir, "schedule.goal"), filepath.Join(dir, "traces")
	text := "num_ranks 2\nrank 0 {\na: calc 500\nb: send 8b to 1 tag 7\nb requires a\n}\nrank 1 {\nrecv 8b from 0 tag 7\n}\n"
	if err := os.WriteFile(schedule, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	said, trouble, code := netsim(t, "engine", "convert", schedule, "--out", out)
	if want := "2 ranks with 1 computations, 1 sends, 1 receives and 1 dependencies; set ComputeScale to 0.001"; code != 0 || !strings.HasPrefix(said, want) {
		t.Errorf("exit code %d, got %s%s, want %s", code, said, trouble, want)
	}
	for name, want := range map[string]string{"rank_0.chakra.json": `"id":"1","type":"COMM_SEND_NODE","dataDeps":["0"]`, "rank_1.chakra.json": `"type":"COMM_RECV_NODE"`} {
		if content, err := os.ReadFile(filepath.Join(out, name)); err != nil || !strings.Contains(string(content), want) {
			t.Errorf("%s has %s, %v; want %s", name, content, err, want)
		}
	}
	if _, trouble, code := netsim(t, "engine", "convert", schedule, "--out", out, "--binary"); code != 0 {
		t.Errorf("exit code %d, got %s", code, trouble)
	}
	for rank, want := range [][]chakra.NodeType{{chakra.ComputeNode, chakra.SendNode}, {chakra.ReceiveNode}} {
		var texts, binaries []chakra.NodeType
		for name, types := range map[string]*[]chakra.NodeType{fmt.Sprintf("rank_%d.chakra.json", rank): &texts, fmt.Sprintf("rank.%d.et", rank): &binaries} {
			file, err := os.Open(filepath.Join(out, name))
			if err != nil {
				t.Fatal(err)
			}
			trace, err := chakra.NewReader(file, chakra.Limits{})
			if err != nil || (trace.Format() == chakra.FormatBinary) != (types == &binaries) {
				t.Fatalf("%s: %v", name, err)
			}
			for n, err := trace.Next(); err == nil; n, err = trace.Next() {
				*types = append(*types, n.Type)
			}
			file.Close() //nolint:errcheck // it was only read
		}
		if !slices.Equal(texts, want) || !slices.Equal(binaries, want) {
			t.Errorf("rank %d has %v as JSON and %v in the binary form, want %v", rank, texts, binaries, want)
		}
	}
	if _, trouble, code := netsim(t, "engine", "convert", "convert_test.go", "--out", out); code != 1 || !strings.Contains(trouble, "convert_test.go: line 1: 'package main' is neither 'num_ranks N'") {
		t.Errorf("exit code %d and %q for a file that is no schedule", code, trouble)
	}
}

// TestConvertWorkload: the workload of a simple submission's traceset becomes traces, with a
// file of groups if there are several.
func TestConvertWorkload(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	const phase = `{"operationType":"allReduce","algorithm":"recursiveHalvingDoubling","dataSize":1024}`
	one := write("workload.simple.json", `[{"count":1,"groupSize":8,"phases":[`+phase+`,{"operationType":"allGather","dataSize":64}]}]`)
	out := filepath.Join(dir, "traces")
	said, trouble, code := netsim(t, "engine", "convert", one, "--out", out, "--binary")
	if want := "8 ranks with 2 collectives; in the configuration, set AllGatherAlgorithm to ring, AllReduceAlgorithm to halving-doubling\n"; code != 0 || said != want {
		t.Errorf("exit code %d, got %s%s, want %s", code, said, trouble, want)
	}
	file, err := os.Open(filepath.Join(out, "rank.7.et"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	trace, err := chakra.NewReader(file, chakra.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []chakra.Node{
		{Collective: chakra.AllReduce, Size: 1024}, {Collective: chakra.AllGather, Size: 64, Data: []uint64{0}},
	} {
		n, err := trace.Next()
		if err != nil || n.ID != uint64(i) || n.Role() != chakra.Collect || n.Collective != want.Collective || n.Size != want.Size || !slices.Equal(n.Data, want.Data) || n.Group != "" {
			t.Errorf("node %d is %+v (%v), want %+v", i, n, err, want)
		}
	}
	if _, err := os.Stat(filepath.Join(out, "comm_groups.json")); !os.IsNotExist(err) {
		t.Errorf("one group of all ranks has a file of groups (%v)", err)
	}

	two := write("two.json", `[{"count":2,"groupSize":4,"phases":[`+phase+`]}]`)
	if said, trouble, code := netsim(t, "engine", "convert", two, "--out", out); code != 0 || !strings.HasPrefix(said, "8 ranks with 2 collectives;") {
		t.Errorf("exit code %d, got %s%s", code, said, trouble)
	}
	groups, err := os.ReadFile(filepath.Join(out, "comm_groups.json"))
	if want := `{"0":[0,1,2,3],"1":[4,5,6,7]}`; err != nil || string(groups) != want {
		t.Errorf("the groups are %s (%v), want %s", groups, err, want)
	}
	for text, want := range map[string]string{
		"{": "read the workload", "[]": "exactly one of workload and groups is required",
		`[{"count":1,"groupSize":8,"phases":[{"operationType":"gossip","dataSize":1}]}]`: "gossip",
	} {
		if _, trouble, code := netsim(t, "engine", "convert", write("wrong.json", text), "--out", out); code != 1 || !strings.Contains(trouble, want) {
			t.Errorf("%s: exit code %d and %q, want %q", text, code, trouble, want)
		}
	}
}
