package results_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/simulator/collective"
	"netsim/simulator/engine"
	"netsim/simulator/results"
	"netsim/simulator/topology"
)

// files keeps the files that a recorder creates.
type files struct {
	names   []string
	content map[string]*bytes.Buffer
	open    int
}

type file struct {
	*bytes.Buffer
	files *files
}

func (f file) Close() error {
	f.files.open--
	return nil
}

func (f *files) create(name string) (io.WriteCloser, error) {
	if f.content == nil {
		f.content = map[string]*bytes.Buffer{}
	}
	f.names = append(f.names, name)
	f.content[name] = &bytes.Buffer{}
	f.open++
	return file{f.content[name], f}, nil
}

func (f *files) hash() string {
	h := sha256.New()
	for _, name := range slices.Sorted(slices.Values(f.names)) {
		fmt.Fprintf(h, "%s %d\n%s", name, f.content[name].Len(), f.content[name].Bytes())
	}
	return hex.EncodeToString(h.Sum(nil))
}

func fabric(t testing.TB, radix string, ranks int) *topology.Fabric {
	t.Helper()
	d, err := topology.Derive(topology.Constraints{SwitchRadix: radix}, ranks)
	if err != nil {
		t.Fatal(err)
	}
	f, err := topology.Build(d.Layout())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func record(t *testing.T, c results.Config, groups []collective.GroupSpec, o engine.Options) (*files, *engine.Result) {
	t.Helper()
	return recordInput(t, c, engine.Input{Fabric: c.Fabric, Groups: groups, Options: o})
}

func TestFiles(t *testing.T) {
	t.Parallel()
	groups, err := collective.Resolve(&collective.Workload{Ranks: 2, Phases: []collective.Phase{
		{OperationType: "allReduce", DataSize: 8192},
	}}, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	out, result := record(t, results.Config{Simulation: "a*b", Fabric: fabric(t, "128x400G", 2)}, groups,
		engine.Options{Interval: 1_000_000_000, Beacon: 1_000_000_000})
	want := map[string][]string{
		// 4,096 B are one packet with a header of 58 B and an acknowledgement of
		// 64 B. It is sent at 400 Gb/s, stored and forwarded once, over two links
		// of 100 ns, and acknowledged.
		"a_b-perf-0.csv": {
			"2026-01-02T03:04:05.000000568Z,TransferFCT,0.000000568720,0.568720,TransferFCT.allReduce.GroupSize2.CommSize8192Bytes,0,0.000000000000,0,0,2,4096,rank-0,rank-1",
			"2026-01-02T03:04:05.000000568Z,TransferFCT,0.000000568720,0.568720,TransferFCT.allReduce.GroupSize2.CommSize8192Bytes,0,0.000000000000,0,0,2,4096,rank-1,rank-0",
			"2026-01-02T03:04:05.000001137Z,TransferFCT,0.000001137440,0.568720,TransferFCT.allReduce.GroupSize2.CommSize8192Bytes,0,0.000000568720,0,1,2,4096,rank-1,rank-0",
			"2026-01-02T03:04:05.000001137Z,TransferFCT,0.000001137440,0.568720,TransferFCT.allReduce.GroupSize2.CommSize8192Bytes,0,0.000000568720,0,1,2,4096,rank-0,rank-1",
		},
		"a_b-rank-completion-0.csv": {
			"RankCompletion,0,1.137440,8192,8192,2,2,2,0,0.000000,1",
			"RankCompletion,1,1.137440,8192,8192,2,2,2,0,0.000000,1",
		},
		"a_b-collective-stats-0.csv": {"0,allReduce,8192,group-0,2,0.000000,1.137440,1"},
		"a_b-collective-percentiles-0.csv": {
			"allReduce,ring,8192,2,1,1.137440,1.137440,1.137440,1.137440,1.137440,6.942382,6.942382,6.942382,6.942382,6.942382,7.202138134,7.202138134",
		},
		"a_b-progress-cdf-0.csv": {"0.000001137440,1.000000,1.000000,1.000000,1.000000,1.000000"},
		"a_b-topology-report-0.csv": {
			"nic-0,Nic,3,4294967295,1,eth0,0,rsw-0,Switch,2,4294967295,0,eth0,0,400.000000000,100.000",
			"nic-1,Nic,3,4294967295,2,eth0,0,rsw-0,Switch,2,4294967295,0,eth1,1,400.000000000,100.000",
		},
		"a_b-nd-stats-0.csv": {
			"2026-01-02T03:04:05.000001137Z,0.000001137440,nic-0,eth0,Nic,0,ul,1,3,4294967295,2,2,0.000008436,0.000008436,0.008436,0.008436,59.333239555,59.333239555,14.833309,14.833309,0,0",
			"2026-01-02T03:04:05.000001137Z,0.000001137440,rsw-0,eth0,Switch,0,dl,0,2,4294967295,2,2,0.000008436,0.000008436,0.008436,0.008436,59.333239555,59.333239555,14.833309,14.833309,0,0",
			"2026-01-02T03:04:05.000001137Z,0.000001137440,nic-1,eth0,Nic,0,ul,2,3,4294967295,2,2,0.000008436,0.000008436,0.008436,0.008436,59.333239555,59.333239555,14.833309,14.833309,0,0",
			"2026-01-02T03:04:05.000001137Z,0.000001137440,rsw-0,eth1,Switch,1,dl,0,2,4294967295,2,2,0.000008436,0.000008436,0.008436,0.008436,59.333239555,59.333239555,14.833309,14.833309,0,0",
		},
		"a_b-tier-hop-0.csv": {"2026-01-02T03:04:05.000001137Z,0.000001137440,0,0,4,0,0,4"},
	}
	got := map[string][]string{}
	for name, content := range out.content {
		if strings.HasSuffix(name, ".csv") {
			lines := strings.Split(strings.TrimSuffix(content.String(), "\n"), "\n")
			got[name] = lines[1:]
			if columns := strings.Count(lines[0], ","); columns != strings.Count(lines[1], ",") {
				t.Errorf("%s: %d columns in the header, %d in the first row", name, columns+1, strings.Count(lines[1], ",")+1)
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if s := results.Summarize(result); s.SimulatedTime != "1.13744us" || s.Throughput != "115.234Gbps" || s.TotalPackets != 4 || s.AvgLatency != "568.72ns" {
		t.Errorf("unexpected summary %+v", s)
	}
}

func TestShards(t *testing.T) {
	t.Parallel()
	whole, _ := record(t, results.Config{Simulation: "s", Fabric: fabric(t, "64x800G", 64)}, everyOperation(t), engine.Options{})
	cut, _ := record(t, results.Config{Simulation: "s", Fabric: fabric(t, "64x800G", 64), ShardSize: 10_000}, everyOperation(t), engine.Options{})
	header, want, _ := strings.Cut(whole.content["s-perf-0.csv"].String(), "\n")
	var got strings.Builder
	for shard := 0; ; shard++ {
		content, ok := cut.content[fmt.Sprintf("s-perf-%d.csv", shard)]
		if !ok {
			break
		}
		if content.Len() > 10_500 {
			t.Errorf("shard %d has %d bytes, want at most 10500", shard, content.Len())
		}
		rest, ok := strings.CutPrefix(content.String(), header+"\n")
		if !ok {
			t.Errorf("shard %d has no header", shard)
		}
		got.WriteString(rest)
	}
	if got.String() != want {
		t.Error("the rows of the shards are not those of a single file")
	}
}

// TestMaxTransfers: MaxTransfers bounds the per-transfer record, and the summary says so.
func TestMaxTransfers(t *testing.T) {
	t.Parallel()
	out, result := record(t, results.Config{Simulation: "s", Fabric: fabric(t, "64x800G", 64), MaxTransfers: 10}, everyOperation(t), engine.Options{})
	if rows := strings.Count(out.content["s-perf-0.csv"].String(), "\n") - 1; rows != 10 {
		t.Errorf("%d rows, want 10", rows)
	}
	for _, want := range []string{
		fmt.Sprintf(`"unlistedTransfers": %d,`, result.Sends-10),
		fmt.Sprintf(`perf lists only the first transfers that finished; %d more are in the sums.`, result.Sends-10),
	} {
		if !strings.Contains(out.content["summary.json"].String(), want) {
			t.Errorf("%s does not contain %s", out.content["summary.json"], want)
		}
	}
}

// TestPortsOfUnlisted: the record of scale-up ports has the transfers that MaxTransfers leaves
// out of the per-transfer record.
func TestPortsOfUnlisted(t *testing.T) {
	t.Parallel()
	var ports []string
	for _, most := range []int64{0, 1} {
		out, _ := recordInput(t, results.Config{Simulation: "s", MaxTransfers: most}, scaledUp(t))
		ports = append(ports, out.content["s-scale-up-stats-0.csv"].String())
	}
	if ports[0] != ports[1] {
		t.Errorf("with one listed transfer the ports are\n%swant\n%s", ports[1], ports[0])
	}
}

func TestCreateFails(t *testing.T) {
	t.Parallel()
	full := errors.New("disk full")
	_, err := results.New(results.Config{Simulation: "s", Fabric: fabric(t, "64x800G", 8), Create: func(string) (io.WriteCloser, error) {
		return nil, full
	}})
	if !errors.Is(err, full) {
		t.Errorf("got error %v, want %v", err, full)
	}
}
