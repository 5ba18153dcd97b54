package results_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"google.golang.org/protobuf/encoding/protowire"

	"netsim/simulator/results"
	"netsim/simulator/timeline"
)

// shardsOf returns the files of the records of a timeline.
func shardsOf(out *files) (shards []results.Shard) {
	for _, record := range results.TimelineRecords() {
		for i := 0; out.content[fmt.Sprintf("s-%s-%d.csv", record, i)] != nil; i++ {
			shards = append(shards, results.Shard{Record: record, Reader: bytes.NewReader(out.content[fmt.Sprintf("s-%s-%d.csv", record, i)].Bytes())})
		}
	}
	return shards
}

// TestTimeline: the timeline of every kind of run has a slice for each computation, transfer
// and collective of the records, and the plot's means are those of the records.
func TestTimeline(t *testing.T) {
	t.Parallel()
	inputs := kinds(t)
	inputs["straggling"] = straggling(t)
	for kind, in := range inputs {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			out, result := recordInput(t, results.Config{Simulation: "s", ShardSize: 4096}, in)
			var trace, plotted bytes.Buffer
			rows, err := results.TracePerfetto(&trace, shardsOf(out)...)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := results.PlotTimeline(&plotted, shardsOf(out)...); err != nil || again != rows || rows < result.Measured+result.Computations {
				t.Errorf("read %d and %d rows, %v", rows, again, err)
			}
			z, err := gzip.NewReader(&trace)
			if err != nil {
				t.Fatal(err)
			}
			content, err := io.ReadAll(z)
			if err != nil {
				t.Fatal(err)
			}
			if n, want := sliceCount(t, content), result.Measured+result.Computations+int64(result.CollectivesTotal); n < want {
				t.Errorf("%d slices, want at least %d", n, want)
			}
			d, err := zstd.NewReader(&plotted)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			var p timeline.Plot
			if err := json.NewDecoder(d).Decode(&p); err != nil {
				t.Fatal(err)
			}
			if p.Omitted != 0 || len(p.Links) == 0 || len(p.Ranks) == 0 || len(p.Collectives) != min(result.Collectives, 1000) {
				t.Errorf("the plot has %d rows of ranks, %d collectives and %d of links", len(p.Ranks), len(p.Collectives), len(p.Links))
			}
			if kind != "straggling" {
				return
			}
			var computing [8]float64
			for i, r := range p.Ranks {
				for _, percent := range r.Computing {
					computing[i] += float64(percent) / 100 * float64(p.EndPs) / float64(p.Bins) / 1e6
				}
			}
			for rank, us := range computing {
				want := 49.0
				if rank == 3 {
					want = 147
				}
				if !near(us, want, 0.03) {
					t.Errorf("rank %d computes for %.1f us, want %.1f", rank, us, want)
				}
			}
			if n := len(rowsOf(t, out, "s-computations-0.csv")); n != 56 {
				t.Errorf("%d computations, want 56", n)
			}
		})
	}
}

// sliceCount returns the number of slices in a trace that begin, and checks that as many end.
func sliceCount(t *testing.T, trace []byte) (begun int64) {
	t.Helper()
	var ended int64
	field := func(b []byte, want protowire.Number, each func([]byte, uint64)) {
		for len(b) > 0 {
			number, kind, n := protowire.ConsumeTag(b)
			b = b[max(n, 0):]
			var bytes []byte
			var v uint64
			switch kind {
			case protowire.VarintType:
				v, n = protowire.ConsumeVarint(b)
			case protowire.Fixed64Type:
				v, n = protowire.ConsumeFixed64(b)
			default:
				bytes, n = protowire.ConsumeBytes(b)
			}
			if n < 0 {
				t.Fatal(protowire.ParseError(n))
			}
			if number == want {
				each(bytes, v)
			}
			b = b[n:]
		}
	}
	field(trace, 1, func(packet []byte, _ uint64) {
		field(packet, 11, func(event []byte, _ uint64) {
			field(event, 9, func(_ []byte, kind uint64) {
				switch kind {
				case 1:
					begun++
				case 2:
					ended++
				}
			})
		})
	})
	if begun != ended {
		t.Errorf("%d slices begin and %d end", begun, ended)
	}
	return begun
}

// TestTimelineOfOtherFiles: shards of other records, or damaged ones, are refused.
func TestTimelineOfOtherFiles(t *testing.T) {
	t.Parallel()
	header := func(record string) string { return strings.Join(results.Columns(record), ",") + "\n" }
	for _, s := range []struct{ record, content string }{
		{"tier-hop", header("tier-hop")}, {"perf", ""}, {"perf", "a,b\n"}, {"computations", header("computations") + "x,1,host,0,1\n"},
		{"computations", header("computations") + "999999999,1,host,0,1\n"}, {"collective-stats", "a,b\n"},
		{"collective-stats", header("collective-stats") + "0,allReduce,x,world,2,0,1,1\n"}, {"nd-stats", header("nd-stats") + "0,1\n"},
	} {
		if _, err := results.PlotTimeline(io.Discard, results.Shard{Record: s.record, Reader: strings.NewReader(s.content)}); err == nil {
			t.Errorf("%s with %.60q is read", s.record, s.content)
		}
	}
}
