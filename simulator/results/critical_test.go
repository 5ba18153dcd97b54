package results_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"netsim/simulator/engine"
	"netsim/simulator/results"
	"netsim/simulator/schedule"
)

// critical is the summary of a critical path, decoded without the types of package results.
type critical struct {
	Steps, Activities int64
	TimeUs            float64
	Parts             struct {
		ComputationPercent, SendingPercent, ContentionPercent, LatencyPercent float64
		ComputationPs, SendingPs, ContentionPs, LatencyPs                     int64
	}
	Longest []struct {
		StartTimeUs, TimeUs                               float64
		Activities, Rank, ToRank, CollectiveID, SizeBytes int64
		NodeID                                            *uint64
		Kind, OperationType, LimitedBy                    string
	}
	Ranks []struct {
		Rank                   int64
		ComputationUs, Percent float64
	}
	Links []struct {
		Name                          string
		TimeUs, ContentionUs, Percent float64
	}
	Collectives []struct {
		CollectiveID    int64
		OperationType   string
		TimeUs, Percent float64
	}
	Sentence string
}

// straggling returns the input of ringTraces in which rank 3 computes three times longer.
func straggling(t *testing.T) engine.Input {
	t.Helper()
	return slowed(t, 3, 1)
}

// slowed returns the input of ringTraces in which rank 3 computes longer by a factor.
func slowed(t *testing.T, num, den int64) engine.Input {
	t.Helper()
	in := kinds(t)["replay"]
	in.Options.CriticalPath = true
	nodes := in.Replay.Schedule.Ranks[3].Nodes
	for i := range nodes {
		if nodes[i].Op == schedule.Compute {
			nodes[i].Value = nodes[i].Value * num / den
		}
	}
	return in
}

// TestStragglers: the summary names the rank that computes three times longer, and says how
// much of the critical path its computations are. Without such a rank it names none.
func TestStragglers(t *testing.T) {
	t.Parallel()
	var x struct {
		Stragglers *struct {
			MedianComputeTimeUs float64
			Count               int
			Ranks               []struct {
				Rank                       int
				ComputeTimeUs, MedianRatio float64
			}
		}
		CriticalPath critical
		Reading      []string
	}
	out, _ := recordInput(t, results.Config{Simulation: "s"}, straggling(t))
	if err := json.Unmarshal(out.content["summary.json"].Bytes(), &x); err != nil {
		t.Fatal(err)
	}
	if s := x.Stragglers; s == nil || s.Count != 1 || len(s.Ranks) != 1 || s.Ranks[0].Rank != 3 || s.Ranks[0].MedianRatio != 3 || s.Ranks[0].ComputeTimeUs != 3*s.MedianComputeTimeUs {
		t.Errorf("stragglers %+v, want rank 3 alone, with three times the median", s)
	}
	if r := x.CriticalPath.Ranks[0]; r.Rank != 3 || r.Percent <= 50 {
		t.Errorf("%+v computes most on the critical path, want rank 3 for more than half of it", r)
	}
	want := fmt.Sprintf("Rank 3 computed for 147.0 us, 3.0 times as long as the median of the ranks; its computations are %.1f %% of the critical path.", x.CriticalPath.Ranks[0].Percent)
	if !slices.Contains(x.Reading, want) || !slices.Contains(x.Reading, x.CriticalPath.Sentence) {
		t.Errorf("reading %q, want %q and the sentence of the path", x.Reading, want)
	}
	for percent, found := range map[int64]bool{109: false, 110: true, 149: true} {
		x.Stragglers = nil
		out, _ := recordInput(t, results.Config{Simulation: "s"}, slowed(t, percent, 100))
		if err := json.Unmarshal(out.content["summary.json"].Bytes(), &x); err != nil {
			t.Fatal(err)
		}
		if s := x.Stragglers; found != (s != nil) || found && (s.Count != 1 || s.Ranks[0].Rank != 3) {
			t.Errorf("a rank with %d %% of the median: stragglers %+v, want them: %t", percent, s, found)
		}
	}
	in := kinds(t)["replay"]
	plain, _ := recordInput(t, results.Config{Simulation: "s"}, in)
	if text := plain.content["summary.json"].String(); strings.Contains(text, "stragglers") || strings.Contains(text, "criticalPath") {
		t.Error("a run of equal ranks without a critical path has stragglers or a path")
	}
}

// TestCriticalPath: for every kind of run, the rows of critical-path follow one another up to
// the end of the run, and the summaries in summary.json and of results/data are what the
// rows add up to.
func TestCriticalPath(t *testing.T) {
	t.Parallel()
	inputs := kinds(t)
	inputs["straggling"] = straggling(t)
	for kind, in := range inputs {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			in.Options.CriticalPath = true
			out, result := recordInput(t, results.Config{Simulation: "s", ShardSize: 4096}, in)
			var x struct{ CriticalPath *critical }
			if err := json.Unmarshal(out.content["summary.json"].Bytes(), &x); err != nil {
				t.Fatal(err)
			}
			if in.Traffic != nil {
				if x.CriticalPath != nil || out.content["s-critical-path-0.csv"] != nil {
					t.Error("traffic has a critical path")
				}
				return
			}
			var rows []map[string]string
			var shards []io.Reader
			for i := 0; out.content[fmt.Sprintf("s-critical-path-%d.csv", i)] != nil; i++ {
				name := fmt.Sprintf("s-critical-path-%d.csv", i)
				rows = append(rows, rowsOf(t, out, name)...)
				shards = append(shards, bytes.NewReader(out.content[name].Bytes()))
			}
			at, links, parts := "0.000000", map[string]float64{}, [4]float64{}
			for i, row := range rows {
				if row["start_time_us"] != at || row["step"] != fmt.Sprint(i) {
					t.Fatalf("row %d is %v, want the start %s", i, row, at)
				}
				at = row["end_time_us"]
				for k, column := range []string{"computation_us", "sending_us", "contention_us", "latency_us"} {
					parts[k] += number(t, row[column])
					if row["kind"] == "transfer" {
						links[row["limited_by"]] += number(t, row[column])
					}
				}
			}
			end := number(t, at)
			if !near(end, float64(result.Time)/1e6, 1e-9) {
				t.Errorf("the path ends at %s us, want %d ps", at, result.Time)
			}
			c := x.CriticalPath
			if p := c.Parts; p.ComputationPs+p.SendingPs+p.ContentionPs+p.LatencyPs != result.Time {
				t.Errorf("the parts %+v do not add up to %d ps", p, result.Time)
			}
			for k, percent := range []float64{c.Parts.ComputationPercent, c.Parts.SendingPercent, c.Parts.ContentionPercent, c.Parts.LatencyPercent} {
				if !near(percent, 100*parts[k]/end, 1e-5) {
					t.Errorf("part %d is %f %%, want %f", k, percent, 100*parts[k]/end)
				}
			}
			if c.Steps != int64(len(rows)) || !near(c.TimeUs, end, 1e-9) || len(c.Longest) == 0 || len(c.Longest) > 10 || len(c.Links) > 10 {
				t.Errorf("got %+v of %d rows", c, len(rows))
			}
			for i, l := range c.Links {
				if !near(l.TimeUs, links[l.Name], 1e-6) || i > 0 && l.TimeUs > c.Links[i-1].TimeUs {
					t.Errorf("link %d is %+v, want %f us", i, l, links[l.Name])
				}
			}
			var data bytes.Buffer
			n, err := results.SummarizeCritical(&data, shards...)
			if err != nil || n != int64(len(rows)) {
				t.Fatalf("summarized %d rows, %v; want %d", n, err, len(rows))
			}
			z, err := zstd.NewReader(&data)
			if err != nil {
				t.Fatal(err)
			}
			defer z.Close()
			var again critical
			if err := json.NewDecoder(z).Decode(&again); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(*c, again); diff != "" {
				t.Errorf("the summary of the rows (-summary.json +rows):\n%s", diff)
			}
		})
	}
}

// TestCriticalPathOfOtherFiles: shards that are not of this record, or damaged, are refused.
func TestCriticalPathOfOtherFiles(t *testing.T) {
	t.Parallel()
	header := strings.Join(results.Columns("critical-path"), ",")
	for _, shard := range []string{"", "a,b\n1,2\n", header + "\n0,transfer\n", header + "\n" + strings.Repeat("x,", 15) + "x\n"} {
		if _, err := results.SummarizeCritical(io.Discard, strings.NewReader(shard)); err == nil {
			t.Errorf("%.40q is summarized", shard)
		}
	}
}
