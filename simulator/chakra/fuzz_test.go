package chakra_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/simulator/chakra"
)

// A file with one wrong bit is read as another trace or gets a finding. Inspect itself
// does not fail.
func TestEveryBit(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"microbench/all_reduce.1.et", "gzip/all_reduce.1.et.gz", "json/rank_1.chakra.json", "graph/rank_0.chakra.json"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole := testdata(t, name)
			step := 1 + len(whole)/256 // a sample of the bits of long files
			for i := 0; i < len(whole)*8; i += step {
				damaged := slices.Clone(whole)
				damaged[i/8] ^= 1 << (i % 8)
				report, err := chakra.Inspect([]chakra.File{fileOf("a.0.et", damaged), fileOf("a.1.et", whole)}, nil, chakra.Limits{})
				if err != nil || len(report.Traces)+report.Errors == 0 {
					t.Fatalf("with bit %d changed: got %+v, %v, want traces or errors in the report", i, report, err)
				}
			}
		})
	}
}

// Any bytes are read as a trace or refused with an *Error, and a second reading gives
// the same result.
func FuzzReader(f *testing.F) {
	for _, name := range []string{
		"microbench/all_reduce.1.et", "gzip/all_reduce.1.et.gz", "json/rank_1.chakra.json", "graph/rank_0.chakra.json",
		"collectives/all_to_all.0.et", "refused/pytorch_host_et.json.gz",
	} {
		f.Add(testdata(f, name))
	}
	f.Add([]byte(head().frame(node(5, chakra.SendNode).attribute("comm_dst", 7, 3).group("1").bytes(5, []byte{1, 2, 0x80, 1}))))
	f.Fuzz(func(t *testing.T, content []byte) {
		read := func() (int, error) {
			r, err := chakra.NewReader(bytes.NewReader(content), chakra.Limits{Bytes: 1 << 20, Record: 1 << 16})
			for count := 0; ; count++ {
				if err != nil {
					return count, err
				}
				var n *chakra.Node
				if n, err = r.Next(); err == nil {
					_, _ = n.Role(), n.Collective.String()
				}
			}
		}
		count, err := read()
		var wrong *chakra.Error
		if !errors.Is(err, io.EOF) && !errors.As(err, &wrong) {
			t.Fatalf("got error %v, want io.EOF or an *Error", err)
		}
		if again, second := read(); again != count || second.Error() != err.Error() {
			t.Errorf("the second reading ends after %d nodes with %v, want %d and %v", again, second, count, err)
		}
	})
}

// Files of any bytes get a report, and a second inspection gives the same report.
func FuzzInspect(f *testing.F) {
	send := node(1, chakra.SendNode).attribute("comm_dst", 7, 1).attribute("comm_size", 9, 4)
	receive := node(1, chakra.ReceiveNode).attribute("comm_src", 7, 0).attribute("comm_size", 9, 4)
	f.Add([]byte(head().frame(send).frame(node(2, chakra.ComputeNode).number(5, 3)).frame(node(3, chakra.ComputeNode).number(5, 2))), []byte(head().frame(receive)))
	f.Add(testdata(f, "microbench/all_reduce.0.et"), testdata(f, "json/rank_1.chakra.json"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		files := []chakra.File{fileOf("a.0.et", a), fileOf("a.1.et", b)}
		limits := chakra.Limits{Bytes: 1 << 20, Record: 1 << 16, Tangle: 100}
		report, err := chakra.Inspect(files, chakra.Groups{"1": {0, 1}}, limits)
		if err != nil {
			t.Fatal(err)
		}
		again, err := chakra.Inspect(files, chakra.Groups{"1": {0, 1}}, limits)
		if diff := cmp.Diff(report, again); diff != "" || err != nil {
			t.Errorf("the second inspection: error %v, report (-want +got):\n%s", err, diff)
		}
	})
}
