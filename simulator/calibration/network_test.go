package calibration_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"netsim/simulator/calibration"
	"netsim/simulator/collective"
	"netsim/simulator/engine"
	"netsim/simulator/topology"
)

// ring is a collective of nccl-tests whose steps follow each other, and its network.
type ring struct {
	ranks, hops int
	operation   string
	rounds      int // of n-1 steps
	packet      engine.Packet
}

// us returns how long the collective of a size takes in the engine.
func (k *ring) us(t *rapid.T, size, rate, delay int64) float64 {
	server := topology.Server{Component: "server", NICs: []topology.NIC{{Component: "nic", Rate: rate, Delay: delay}}}
	racks := []topology.Rack{{Switches: []topology.Switch{{Component: "leaf", DownRate: rate}}, Servers: slices.Repeat([]topology.Server{server}, k.ranks)}}
	layout := topology.Layout{Racks: racks}
	if k.hops == 4 {
		racks[0].Switches[0] = topology.Switch{Component: "leaf", UpLinks: 1, UpRate: rate, DownRate: rate, UpLinkDelay: delay}
		racks[0].Servers = racks[0].Servers[:1]
		layout = topology.Layout{Pods: []topology.Pod{{Switches: []topology.Switch{{Component: "spine", DownRate: rate}}, Racks: slices.Repeat(racks, k.ranks)}}}
	}
	fabric, err := topology.Build(layout)
	if err != nil {
		t.Fatal(err)
	}
	phase := collective.Phase{OperationType: k.operation, Algorithm: "ring", DataSize: size}
	switch k.operation {
	case collective.AllGather:
		phase.DataSize /= int64(k.ranks) // of each rank
	case collective.AllToAll:
		phase.Algorithm = collective.Sequential
	}
	groups, err := collective.Resolve(&collective.Workload{Ranks: k.ranks, Phases: []collective.Phase{phase}}, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	r, err := engine.Run(t.Context(), engine.Input{Fabric: fabric, Groups: groups, Options: engine.Options{NICs: []engine.NIC{{Packet: k.packet}}}}, engine.Observer{})
	if err != nil {
		t.Fatal(err)
	}
	return float64(r.Time) / 1e6
}

// TestParametersGiveTheTimes: from a log of collectives that the engine simulates, the fit has
// a rate and a delay with which the engine takes the times of the log, whatever the links,
// packets, sizes and hops were. They are those with which the log was made.
func TestParametersGiveTheTimes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		k := ring{ranks: rapid.IntRange(2, 12).Draw(rt, "ranks"), hops: rapid.SampledFrom([]int{2, 4}).Draw(rt, "hops"), rounds: 1, packet: engine.DefaultPacket()}
		if k.operation = rapid.SampledFrom([]string{collective.AllReduce, collective.AllGather, collective.ReduceScatter, collective.AllToAll}).Draw(rt, "operation"); k.operation == collective.AllReduce {
			k.rounds = 2
		}
		k.packet.MSS, k.packet.Header = rapid.SampledFrom([]int64{256, 1024, 4096, 9000}).Draw(rt, "MSS"), rapid.Int64Range(0, 128).Draw(rt, "header")
		rate, delay := rapid.Int64Range(10e9, 800e9).Draw(rt, "rate"), rapid.Int64Range(1e6, 20e6).Draw(rt, "delay")
		text := head(k.ranks, false)
		measured := map[int64]float64{}
		for size := int64(k.ranks) * rapid.Int64Range(1, 2000).Draw(rt, "least"); size <= 1<<30; size *= 8 {
			measured[size] = k.us(rt, size, rate, delay)
			text += row(size, measured[size], float64(k.rounds)*float64(k.ranks-1)/float64(k.ranks), false)
		}
		l, err := calibration.Read(strings.NewReader(text))
		if err != nil {
			rt.Fatal(err)
		}
		f, err := calibration.Calibrate(l)
		if err != nil {
			rt.Fatal(err)
		}
		n, err := f.Network(t.Context(), k.hops, k.packet)
		if err != nil {
			rt.Fatal(err)
		}
		if math.Abs(float64(n.Rate)/float64(rate)-1) > 0.001 || math.Abs(float64(n.Delay)/float64(delay)-1) > 0.01 || n.Worst > 1 {
			rt.Fatalf("got links of %d bit/s and %d ps with a worst residual of %.2f %%, want %d and %d", n.Rate, n.Delay, n.Worst, rate, delay)
		}
		for size, want := range measured {
			if got := k.us(rt, size, n.Rate, n.Delay); math.Abs(got-want) > 0.001*want+0.01 { // a log has two decimals
				rt.Fatalf("with links of %d bit/s and %d ps %d bytes take %.2f us, want %.2f", n.Rate, n.Delay, size, got, want)
			}
		}
	})
}

// TestOneLineDoesNotFit: a log whose times follow two lines, or have a stray measurement, is
// named with its worst measurement; of two lines it says where they meet. A log that is one line,
// give or take a few percent, is not.
func TestOneLineDoesNotFit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		last := int64(1) << rapid.IntRange(12, 24).Draw(rt, "last")
		jump := rapid.Float64Range(2, 5).Draw(rt, "jump")
		stray := int64(1) << rapid.IntRange(11, 29).Draw(rt, "stray")
		noise := rapid.Float64Range(0, 0.04).Draw(rt, "noise")
		said := func(us func(size int64, us float64) float64) string {
			text := head(8, false)
			for size := int64(1024); size <= 1<<30; size *= 2 {
				us := us(size, 14*5+1.75*float64(size)*8/400/1000)
				text += row(size, us*(1+noise*math.Sin(float64(size))), 1.75, false)
			}
			l, err := calibration.Read(strings.NewReader(text))
			if err != nil {
				rt.Fatal(err)
			}
			f, err := calibration.Calibrate(l)
			if err != nil {
				rt.Fatal(err)
			}
			return f.Misfit()
		}
		if got := said(func(_ int64, us float64) float64 { return us }); got != "" {
			rt.Fatalf("a line with %.2f of noise: %s", noise, got)
		}
		got := said(func(size int64, us float64) float64 {
			if size == stray {
				us *= 3
			}
			return us
		})
		if !strings.Contains(got, fmt.Sprintf(" %% at %d bytes", stray)) || strings.Contains(got, "two lines") {
			rt.Fatalf("a stray measurement at %d: %q", stray, got)
		}
		// Another protocol, which takes less time.
		got = said(func(size int64, us float64) float64 {
			if size <= last {
				us /= jump
			}
			return us
		})
		if !strings.Contains(got, "one line does not fit") || !strings.Contains(got, fmt.Sprintf("up to %d bytes and from %d bytes", last, 2*last)) {
			rt.Fatalf("two lines that meet after %d: %q", last, got)
		}
	})
}
