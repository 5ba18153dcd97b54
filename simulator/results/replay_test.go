package results_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"netsim/simulator/chakra"
	"netsim/simulator/engine"
	"netsim/simulator/replay"
	"netsim/simulator/results"
)

// TestReplayGolden: the bytes of the result files of traces, half of their
// ranks in a scale-up group, whatever GOMAXPROCS. Not parallel.
func TestReplayGolden(t *testing.T) {
	const want = "dac1be34540b009dfa86679dca5b39f8c6f261062e2c12272d59ad6e5de1bc27"
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, procs := range []int{1, 2, 8} {
		runtime.GOMAXPROCS(procs)
		b := replay.New(8, replay.Options{})
		for rank := range 8 {
			f, err := os.Open(fmt.Sprintf("../chakra/testdata/ring/custom_allreduce.%d.et.gz", rank))
			if err != nil {
				t.Fatal(err)
			}
			trace, err := chakra.NewReader(f, chakra.Limits{})
			if err == nil {
				err = b.Add(rank, trace)
			}
			f.Close()
			if err != nil {
				t.Fatal(err)
			}
		}
		p, err := b.Program()
		if err != nil {
			t.Fatal(err)
		}
		up := &engine.ScaleUp{
			Domains: []engine.Domain{{ID: 7, Rate: 3_600_000_000_000, SwitchHop: 250_000, Cable: 5_500}},
			Packet:  engine.Packet{MSS: 4096, Header: 24},
		}
		for rank := range 8 {
			up.Seats = append(up.Seats, engine.Seat{Domain: int32(min(rank/4, 1)) - 1, Subgroup: uint32(rank % 2)})
		}
		out := &files{}
		r, err := results.New(results.Config{
			Simulation: "traces", Fabric: fabric(t, "64x800G", 8), Create: out.create, ScaleUp: up,
			Start: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		})
		if err != nil {
			t.Fatal(err)
		}
		result, err := engine.Run(t.Context(), engine.Input{
			Fabric: fabric(t, "64x800G", 8), Replay: &engine.Replay{Program: p, Synchronize: true}, ScaleUp: up,
			Options: engine.Options{Interval: 50_000_000, Beacon: 20_000_000},
		}, r.Observer())
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Close(result); err != nil {
			t.Fatal(err)
		}
		if got := out.hash(); got != want || out.open != 0 {
			t.Errorf("with GOMAXPROCS %d: %s, want %s", procs, got, want)
		}
		ports := out.content["traces-scale-up-stats-0.csv"].String()
		if !strings.HasSuffix(ports, "\n4,7,0,3600.000000000,14,0,1835008,0\n5,7,1,3600.000000000,14,14,1835008,1835008\n"+
			"6,7,0,3600.000000000,14,14,1835008,1835008\n7,7,1,3600.000000000,0,14,0,1835008\n") {
			t.Errorf("ports:\n%s", ports)
		}
		if cdf := out.content["traces-progress-cdf-0.csv"].String(); !strings.HasSuffix(cdf, ",1.000000\n") || !strings.Contains(cdf, ",0.") {
			t.Errorf("progress:\n%s", cdf)
		}
	}
}
