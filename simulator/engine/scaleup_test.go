package engine_test

import (
	"fmt"
	"testing"

	"netsim/simulator/engine"
	"netsim/simulator/replay"
)

const scaleUpByte = 80 // ps that a port of 100 Gb/s takes for a byte

func scaleUp(rate, hop, cable int64, seats ...engine.Seat) *engine.ScaleUp {
	return &engine.ScaleUp{
		Domains: []engine.Domain{{Rate: rate, SwitchHop: hop, Cable: cable}, {Rate: rate, SwitchHop: hop, Cable: cable}},
		Seats:   seats, Packet: engine.Packet{MSS: 1000, Header: 24},
	}
}

// TestScaleUpTimes: messages inside scale-up groups take the time of a closed form.
func TestScaleUpTimes(t *testing.T) {
	t.Parallel()
	const (
		hop, cable = 250_000, 5_500
		size       = 10_000
		near       = hop + 2*cable
		far        = 3*hop + 4*cable
		sending    = (size + 10*24) * scaleUpByte
	)
	none := engine.Seat{Domain: -1}
	together, apart := []engine.Seat{{}, {}, {}, {}}, []engine.Seat{{}, {Subgroup: 1}, {Subgroup: 2}, {Subgroup: 3}}
	one := [][]node{{send(1, 1, 0, size)}, {receive(1, 0, 0, size)}, {}, {}}
	fanOut := [][]node{{send(1, 1, 0, size), send(2, 2, 0, size), send(3, 3, 0, size)}, {receive(1, 0, 0, size)}, {receive(1, 0, 0, size)}, {receive(1, 0, 0, size)}}
	fanIn := [][]node{{receive(1, 1, 0, size), receive(2, 2, 0, size), receive(3, 3, 0, size)}, {send(1, 0, 0, size)}, {send(1, 0, 0, size)}, {send(1, 0, 0, size)}}
	both := [][]node{{send(1, 1, 0, size), receive(2, 1, 0, size)}, {send(1, 0, 0, size), receive(2, 0, 0, size)}, {}, {}}
	ring := [][]node{{collect(1, 0, 4*size, "")}, {collect(1, 0, 4*size, "")}, {collect(1, 0, 4*size, "")}, {collect(1, 0, 4*size, "")}}
	for _, c := range []struct {
		when  string
		ranks [][]node
		in    *engine.ScaleUp
		want  int64 // ps; 0 if the message goes over the network
	}{
		{"one subgroup", one, scaleUp(100*gbps, hop, cable, together...), sending + near},
		{"another subgroup", one, scaleUp(100*gbps, hop, cable, apart...), sending + far},
		{"twice the bandwidth", one, scaleUp(200*gbps, hop, cable, together...), sending/2 + near},
		{"slower switches", one, scaleUp(100*gbps, 2*hop, cable, apart...), sending + far + 3*hop},
		{"longer cables", one, scaleUp(100*gbps, hop, 2*cable, apart...), sending + far + 4*cable},
		{"a sender's rate among peers", fanOut, scaleUp(100*gbps, hop, cable, together...), 3*sending + near},
		{"a receiver's rate among peers", fanIn, scaleUp(100*gbps, hop, cable, together...), 3*sending + near},
		{"both ways at once", both, scaleUp(100*gbps, hop, cable, together...), sending + near},
		{"a ring", ring, scaleUp(100*gbps, hop, cable, together...), 6 * (sending + near)},
		{"none", one, nil, 0},
		{"another group", one, scaleUp(100*gbps, hop, cable, engine.Seat{}, engine.Seat{Domain: 1}, none, none), 0},
		{"one of them in none", one, scaleUp(100*gbps, hop, cable, engine.Seat{}, none, none, none), 0},
	} {
		t.Run(c.when, func(t *testing.T) {
			t.Parallel()
			var carried int64
			in := engine.Input{
				Fabric: oneSwitch(t, 4, 400*gbps, 500_000), ScaleUp: c.in,
				Replay:  &engine.Replay{Schedule: traced(t, replay.Options{}, c.ranks...)},
				Options: engine.Options{NICs: []engine.NIC{{Packet: engine.Packet{MSS: 5000}}}},
			}
			r := run(t, in, engine.Observer{Links: func(l *engine.Links) error {
				for _, bits := range l.Bits {
					carried += bits
				}
				return nil
			}})
			want := c.want
			if want == 0 { // two packets of 100 ns each, and one more for store-and-forward
				want = 3*100_000 + 2_000_000
			}
			if d := r.Time - want; d < 0 || d > 10 {
				t.Errorf("takes %d ps, want %d", r.Time, want)
			}
			if (carried == 0) != (c.want > 0) {
				t.Errorf("the network's links carry %d bits, want some: %v", carried, c.want == 0)
			}
		})
	}
}

// TestScaleUpBeside: messages over the network and messages inside a scale-up group do
// not slow each other down, with any routing.
func TestScaleUpBeside(t *testing.T) {
	t.Parallel()
	ranks := [][]node{
		{send(1, 1, 0, 1_000_000), send(2, 2, 0, 1_000_000)},
		{receive(1, 0, 0, 1_000_000)},
		{receive(2, 0, 0, 1_000_000)},
	}
	seats := []engine.Seat{{}, {}, {Domain: -1}}
	for _, routing := range []engine.Routing{engine.ECMP, engine.Spray, engine.Flowlet} {
		var ends []int64
		run(t, engine.Input{
			Fabric: oneSwitch(t, 3, 400*gbps, 500_000), ScaleUp: scaleUp(100*gbps, 0, 1000, seats...),
			Replay:  &engine.Replay{Schedule: traced(t, replay.Options{}, ranks...)},
			Options: engine.Options{NICs: []engine.NIC{{Packet: engine.Packet{MSS: 5000}}}, Switches: []engine.Switch{{Component: "switch", Routing: routing}}},
		}, engine.Observer{Transfer: func(tr *engine.Transfer) error {
			ends = append(ends, tr.Acked)
			return nil
		}})
		if want := []int64{20_000_000 + 100_000 + 2_000_000, 1_024_000*scaleUpByte + 2_000}; len(ends) != 2 || ends[0] != want[0] || ends[1] != want[1] {
			t.Errorf("routing %d: the messages end at %v, want %v", routing, ends, want)
		}
	}
}

// TestScaleUpSimple: ranks of a simple workload may be in scale-up groups, too. The
// ideal time is then that of the scale-up fabric.
func TestScaleUpSimple(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		seats       []engine.Seat
		time, ideal int64
	}{
		{[]engine.Seat{{}, {}}, 2 * (5_120*scaleUpByte + 1_000 + 2*5_500), 2 * 5_000 * scaleUpByte},
		{[]engine.Seat{{}, {Domain: -1}}, 2 * (100_000 + 100_000 + 2_000_000), 200_000},
	} {
		var ideal int64
		r := run(t, engine.Input{
			Fabric: oneSwitch(t, 2, 400*gbps, 500_000), Groups: workload(t, 2, phase("allReduce", "ring", 10_000)),
			ScaleUp: scaleUp(100*gbps, 1_000, 5_500, c.seats...), Options: engine.Options{NICs: []engine.NIC{{Packet: engine.Packet{MSS: 5000}}}},
		}, engine.Observer{Collective: func(c *engine.Collective) error {
			ideal = c.Ideal
			return nil
		}})
		if r.Time != c.time || ideal != c.ideal {
			t.Errorf("takes %d ps with an ideal of %d, want %d and %d", r.Time, ideal, c.time, c.ideal)
		}
	}
}

// TestScaleUpRefusals: scale-up groups with impossible parameters are refused.
func TestScaleUpRefusals(t *testing.T) {
	t.Parallel()
	for want, in := range map[string]*engine.ScaleUp{
		"scale-up groups have 1 seats for 2 ranks":                                        scaleUp(gbps, 0, 0, engine.Seat{}),
		"scale-up group 0: the bandwidth must be at least 1 bit/s, got 0":                 scaleUp(0, 0, 0, engine.Seat{}, engine.Seat{}),
		"scale-up group 0: a switch hop of 1152921504606846976 ps is longer than any run": scaleUp(gbps, 1<<60, 0, engine.Seat{}, engine.Seat{}),
		"scale-up group 0: a cable of 1152921504606846976 ps is longer than any run":      scaleUp(gbps, 0, 1<<60, engine.Seat{}, engine.Seat{}),
		"MSS must be at least 1, got 0":                                                   {Domains: []engine.Domain{{Rate: 1}}, Seats: []engine.Seat{{}, {}}},
	} {
		_, err := engine.Run(t.Context(), engine.Input{
			Fabric: oneSwitch(t, 2, gbps, 1), Groups: workload(t, 2, phase("allReduce", "", 1)), ScaleUp: in,
		}, engine.Observer{})
		if fmt.Sprint(err) != want {
			t.Errorf("got error %v, want %s", err, want)
		}
	}
}
