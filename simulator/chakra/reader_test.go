package chakra_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"netsim/simulator/chakra"
)

func ExampleReader() {
	file, err := os.Open("testdata/microbench/all_reduce.1.et")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer file.Close()
	r, err := chakra.NewReader(file, chakra.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Format(), "version", r.Metadata().Version)
	for {
		node, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(node.ID, node.Name, node.Collective, node.Size)
	}
	// Output:
	// chakra_et_v1 version 0.0.4
	// 1 all_reduce_4npus_1MB ALL_REDUCE 1048576
}

// total sums up the nodes of a trace.
type total struct {
	Version, Schema       string
	Nodes                 int
	Types                 map[chakra.NodeType]int
	First, Last           uint64
	Data, Control         int
	Duration              uint64 // µs
	Collectives           map[chakra.Collective]int
	Sent, Received, Bytes uint64
}

// Real traces have the figures that their sources list, except for collectives: the
// sources count a collective without a kind as an all-reduce.
func TestRealTraces(t *testing.T) {
	t.Parallel()
	one := func(id uint64, c chakra.Collective) total {
		return total{
			Version: "0.0.4", Nodes: 1, Types: map[chakra.NodeType]int{chakra.CollectiveNode: 1}, First: id, Last: id,
			Collectives: map[chakra.Collective]int{c: 1}, Bytes: 1 << 20,
		}
	}
	ring := total{
		Schema: "1.0.2-chakra.0.0.4", Nodes: 35,
		Types: map[chakra.NodeType]int{chakra.SendNode: 14, chakra.ReceiveNode: 14, chakra.ComputeNode: 7},
		Last:  34, Data: 34, Duration: 49, Collectives: map[chakra.Collective]int{}, Sent: 1835008, Received: 1835008,
	}
	graph := total{
		Nodes: 3664, Types: map[chakra.NodeType]int{chakra.ComputeNode: 3643, chakra.CollectiveNode: 21},
		First: 216, Last: 7022, Data: 181878, Duration: 381795, Collectives: map[chakra.Collective]int{chakra.NoCollective: 21},
	}
	ddp := graph
	ddp.Schema = "1.0.1"
	ddp.Control = 3664
	ddp.Collectives = map[chakra.Collective]int{chakra.AllReduce: 5, chakra.Broadcast: 2, chakra.NoCollective: 14}
	ddp.Bytes = 102228128 + 212904
	tests := map[string]struct {
		format string
		want   total
	}{
		"microbench/all_reduce.0.et":       {chakra.FormatBinary, one(0, chakra.AllReduce)},
		"microbench/all_reduce.3.et":       {chakra.FormatBinary, one(3, chakra.AllReduce)},
		"collectives/all_gather.0.et":      {chakra.FormatBinary, one(0, chakra.AllGather)},
		"collectives/all_to_all.0.et":      {chakra.FormatBinary, one(0, chakra.AllToAll)},
		"collectives/reduce_scatter.0.et":  {chakra.FormatBinary, one(0, chakra.ReduceScatter)},
		"gzip/all_reduce.2.et.gz":          {chakra.FormatBinary, one(2, chakra.AllReduce)},
		"json/rank_0.chakra.json":          {chakra.FormatJSON, one(0, chakra.AllReduce)},
		"json/rank_3.chakra.json":          {chakra.FormatJSON, one(3, chakra.AllReduce)},
		"ring/custom_allreduce.0.et.gz":    {chakra.FormatBinary, ring},
		"ring/custom_allreduce.7.et.gz":    {chakra.FormatBinary, ring},
		"pytorch/pytorch_ddp.0.et.gz":      {chakra.FormatBinary, ddp},
		"graph/full_rank_0.chakra.json.gz": {chakra.FormatJSON, graph},
		"graph/rank_0.chakra.json": {chakra.FormatJSON, total{
			Nodes: 7, Types: map[chakra.NodeType]int{chakra.ComputeNode: 4, chakra.CollectiveNode: 3}, First: 216, Last: 541,
			Data: 6, Control: 7, Duration: 695, Collectives: map[chakra.Collective]int{chakra.NoCollective: 3},
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			content := testdata(t, name)
			format, got, err := sum(bytes.NewReader(content))
			if err != nil || format != tt.format {
				t.Fatalf("got format %s, %v, want %s", format, err, tt.format)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("sums (-want +got):\n%s", diff)
			}
			if _, slowly, err := sum(iotest.OneByteReader(bytes.NewReader(content))); err != nil || !cmp.Equal(got, slowly) {
				t.Errorf("read byte by byte: got %v, %v, want %v", slowly, err, got)
			}
			var compressed bytes.Buffer
			z, err := zstd.NewWriter(&compressed)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = z.Write(plain(t, content))
			_ = z.Close()
			if _, zstd, err := sum(&compressed); err != nil || !cmp.Equal(got, zstd) {
				t.Errorf("compressed with zstd: got %v, %v, want %v", zstd, err, got)
			}
		})
	}
}

// A JSON node may spell names, numbers and enumerations in two ways, in any order.
func TestJSONSpellings(t *testing.T) {
	t.Parallel()
	const head = `{"attr":[{"name":"schema","stringVal":"s"}],"version":"v"}`
	for _, node := range []string{
		`{"id":"5","type":"COMM_SEND_NODE","dataDeps":["1","2"],"ctrlDeps":["3"],"durationMicros":"7","attr":[{"name":"comm_dst","int32Val":1},{"name":"comm_size","uint64Val":"9"}]}`,
		`{"attr":[{"name":"comm_dst","sint64_val":"1"},{"name":"comm_size","double_val":9}],"id":5,"type":5,"data_deps":[1, 2],"ctrl_deps":[3],"duration_micros":7}`,
	} {
		r, err := chakra.NewReader(strings.NewReader(head+" \n"+node), chakra.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		want := &chakra.Node{
			Offset: int64(len(head)), ID: 5, Type: chakra.SendNode, Data: []uint64{1, 2}, Control: []uint64{3}, Duration: 7,
			Collective: chakra.NoCollective, Source: chakra.Absent, Destination: 1, Tag: chakra.Absent, Size: 9,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("node (-want +got):\n%s", diff)
		}
		if m := r.Metadata(); m.Version != "v" || m.Schema != "s" {
			t.Errorf("got metadata %+v, want version v and schema s", m)
		}
	}
}

// A file's metadata may be empty in both formats.
func TestMetadataMayBeEmpty(t *testing.T) {
	t.Parallel()
	for format, content := range map[string][]byte{
		chakra.FormatBinary: message{}.frame(nil).frame(node(1, chakra.ComputeNode)),
		chakra.FormatJSON:   []byte(" {} {\"id\":1,\"type\":4}\n"),
	} {
		got, sums, err := sum(bytes.NewReader(content))
		if err != nil || got != format || sums.Nodes != 1 || sums.Version != "" {
			t.Errorf("got format %s with %+v, %v; want %s with one node", got, sums, err, format)
		}
	}
}

// A trace that is cut between two records reads as a shorter trace. A cut anywhere else
// is an error. The older JSON form and gzip have an end mark.
func TestEveryPrefix(t *testing.T) {
	t.Parallel()
	ring := plain(t, testdata(t, "ring/custom_allreduce.0.et.gz"))
	tests := map[string]struct {
		content []byte
		from    int
		whole   int // prefixes that read to a clean end
	}{
		"binary":       {testdata(t, "microbench/all_reduce.1.et"), 0, 2},
		"many nodes":   {ring, len(ring) - 3000, 36},
		"gzip":         {testdata(t, "gzip/all_reduce.1.et.gz"), 0, 1},
		"JSON stream":  {testdata(t, "json/rank_1.chakra.json"), 0, 2},
		"older JSON":   {bytes.TrimSpace(testdata(t, "graph/rank_0.chakra.json")), 0, 1},
		"gzip of JSON": {compress(t, testdata(t, "json/rank_1.chakra.json")), 0, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole := 0
			for n := tt.from; n <= len(tt.content); n++ {
				_, _, err := sum(bytes.NewReader(tt.content[:n]))
				var wrong *chakra.Error
				switch {
				case err == nil:
					whole++
				case !errors.As(err, &wrong):
					t.Fatalf("the first %d bytes: got error %v, want an *Error", n, err)
				}
			}
			if whole != tt.whole {
				t.Errorf("%d prefixes read to the end, want %d", whole, tt.whole)
			}
		})
	}
}

// An error of the underlying reader is returned, and is not a fault of the file.
func TestReadingThatFailsIsNoVerdict(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"microbench/all_reduce.1.et", "gzip/all_reduce.1.et.gz", "json/rank_1.chakra.json", "graph/rank_0.chakra.json"} {
		content := testdata(t, name)
		for n := range len(content) {
			_, _, err := sum(io.MultiReader(bytes.NewReader(content[:n]), iotest.ErrReader(io.ErrClosedPipe)))
			if !errors.Is(err, io.ErrClosedPipe) {
				t.Fatalf("%s, %d bytes: got %v, want %v", name, n, err, io.ErrClosedPipe)
			}
		}
	}
}

// sum reads a trace to its end.
func sum(file io.Reader) (format string, got total, err error) {
	r, err := chakra.NewReader(file, chakra.Limits{})
	if err != nil {
		return "", got, err
	}
	got = total{Version: r.Metadata().Version, Schema: r.Metadata().Schema, First: 1<<64 - 1}
	got.Types, got.Collectives = map[chakra.NodeType]int{}, map[chakra.Collective]int{}
	for {
		n, err := r.Next()
		if errors.Is(err, io.EOF) {
			return r.Format(), got, nil
		}
		if err != nil {
			return "", got, err
		}
		got.Nodes++
		got.Types[n.Type]++
		got.First, got.Last = min(got.First, n.ID), max(got.Last, n.ID)
		got.Data += len(n.Data)
		got.Control += len(n.Control)
		got.Duration += n.Duration
		switch n.Type {
		case chakra.SendNode:
			got.Sent += n.Size
		case chakra.ReceiveNode:
			got.Received += n.Size
		case chakra.CollectiveNode:
			got.Collectives[n.Collective]++
			got.Bytes += n.Size
		}
	}
}

func testdata(t testing.TB, name string) []byte {
	t.Helper()
	content, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// plain returns the content decompressed.
func plain(t testing.TB, content []byte) []byte {
	t.Helper()
	if !bytes.HasPrefix(content, []byte{0x1f, 0x8b}) {
		return content
	}
	z, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	content, err = io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func compress(t testing.TB, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(content)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
