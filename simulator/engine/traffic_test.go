package engine_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"netsim/simulator/engine"
	"netsim/simulator/topology"
)

// everyHost returns the hosts 0 to n-1.
func everyHost(n int) []int32 {
	hosts := make([]int32, n)
	for i := range hosts {
		hosts[i] = int32(i)
	}
	return hosts
}

// traffic returns an application whose clients and servers are n hosts.
func traffic(pattern engine.Pattern, n int, size, load int64) engine.Traffic {
	return engine.Traffic{Name: "web", Pattern: pattern, Clients: everyHost(n), Servers: everyHost(n), MessageSize: size, Load: load}
}

const wholeLoad = 1_000_000_000 // engine.Traffic.Load for the full rate of a client's NICs

// bare returns packet sizes without headers: a message takes its size over the rate.
func bare() []engine.NIC { return []engine.NIC{{Packet: engine.Packet{MSS: 1 << 40}}} }

// TestPatterns: clients send to the servers of their pattern.
func TestPatterns(t *testing.T) {
	t.Parallel()
	const hosts = 16
	for _, c := range []struct {
		pattern              engine.Pattern
		senders, peers, fans int // peers: receivers of each sender; fans: most senders of one receiver
	}{
		{engine.UniformRandom, hosts, hosts - 1, hosts - 1},
		{engine.Permutation, hosts, 1, 2},
		{engine.Incast, hosts - 1, 1, hosts - 1},
	} {
		to, from := map[int32]map[int32]bool{}, map[int32]map[int32]bool{}
		add := func(m map[int32]map[int32]bool, a, b int32) {
			if m[a] == nil {
				m[a] = map[int32]bool{}
			}
			m[a][b] = true
		}
		r := run(t, engine.Input{
			Fabric: oneSwitch(t, hosts, 400*gbps, 1000), Traffic: []engine.Traffic{traffic(c.pattern, hosts, 16_000, wholeLoad/20)},
			Options: engine.Options{Limit: 4_000_000_000},
		}, engine.Observer{Transfer: func(tr *engine.Transfer) error {
			if tr.From == tr.To || tr.Bytes != 16_000 || tr.Collective.ID != -1 || tr.Collective.OperationType != "web" {
				t.Errorf("got transfer %+v of %+v, want 16,000 bytes of web between two hosts", tr, tr.Collective)
			}
			add(to, tr.From, tr.To)
			add(from, tr.To, tr.From)
			return nil
		}})
		if len(to) != c.senders || r.RanksTotal != hosts {
			t.Errorf("pattern %d: %d of %d ranks send, want %d of %d", c.pattern, len(to), r.RanksTotal, c.senders, hosts)
		}
		for sender, peers := range to {
			if len(peers) != c.peers {
				t.Errorf("pattern %d: rank %d sends to %d others, want %d", c.pattern, sender, len(peers), c.peers)
			}
		}
		for receiver, fans := range from {
			if len(fans) > c.fans {
				t.Errorf("pattern %d: rank %d receives from %d others, want at most %d", c.pattern, receiver, len(fans), c.fans)
			}
		}
	}
}

// TestOfferedLoad: clients offer their load, headers included. The gaps between
// messages are exponentially distributed: 1/e of them are longer than the mean.
func TestOfferedLoad(t *testing.T) {
	t.Parallel()
	const hosts, limit = 4, 20_000_000_000
	var last [hosts]int64
	var gaps []float64
	var wire int64
	app := traffic(engine.UniformRandom, hosts, 16_000, wholeLoad/4)
	fabric := oneSwitch(t, hosts, 400*gbps, 1000)
	r := run(t, engine.Input{Fabric: fabric, Traffic: []engine.Traffic{app}, Options: engine.Options{Limit: limit, Interval: limit}},
		engine.Observer{
			Transfer: func(tr *engine.Transfer) error {
				if tr.Start > last[tr.From] {
					gaps = append(gaps, float64(tr.Start-last[tr.From]))
					last[tr.From] = tr.Start
				}
				return nil
			},
			Links: func(l *engine.Links) error {
				for id := range hosts {
					wire += l.Bits[2*id]
				}
				return nil
			},
		})
	if got := float64(wire) / (hosts * 400 * gbps * limit / 1e12); math.Abs(got-0.25) > 0.005 {
		t.Errorf("NICs send at %.4f of their rate, want 0.25", got)
	}
	if want := app.Expected(fabric, engine.Options{}, limit); math.Abs(float64(r.SendsTotal)/float64(want)-1) > 0.02 {
		t.Errorf("%d messages are offered, want %d within 2 %%", r.SendsTotal, want)
	}
	longer, sum := 0, 0.0
	for _, g := range gaps {
		sum += g
	}
	for _, g := range gaps {
		if g > sum/float64(len(gaps)) {
			longer++
		}
	}
	if got := float64(longer) / float64(len(gaps)); math.Abs(got-1/math.E) > 0.01 {
		t.Errorf("a part of %.4f of the gaps is longer than the mean, want %.4f", got, 1/math.E)
	}
}

// TestProcessorSharing: a server's link that many clients load to ρ is a queue with
// processor sharing. Its mean response time is the time of a message alone divided by
// 1-ρ, for any distribution of sizes.
func TestProcessorSharing(t *testing.T) {
	t.Parallel()
	const hosts, size = 65, 100_000
	for _, rho := range []float64{0.25, 0.5, 0.75} {
		r := run(t, engine.Input{
			Fabric:  oneSwitch(t, hosts, 400*gbps, 0),
			Traffic: []engine.Traffic{traffic(engine.Incast, hosts, size, int64(rho*wholeLoad/(hosts-1)))},
			Options: engine.Options{NICs: bare(), Limit: 100_000_000_000},
		}, engine.Observer{})
		alone := size * 8 * 1000 / 400                               // ps
		got := float64(r.AvgLatency()-int64(alone)) / float64(alone) // without store-and-forward at the switch
		if want := 1 / (1 - rho); math.Abs(got/want-1) > 0.05 {
			t.Errorf("at a load of %.2f messages take %.3f times as long as alone, want %.3f", rho, got, want)
		}
	}
}

// TestSeveralApplications: all applications send, and one does not change when
// another's messages start.
func TestSeveralApplications(t *testing.T) {
	t.Parallel()
	starts := func(apps ...engine.Traffic) map[string][]int64 {
		m := map[string][]int64{}
		run(t, engine.Input{
			Fabric: oneSwitch(t, 8, 400*gbps, 1000), Traffic: apps, Options: engine.Options{Limit: 1_000_000_000},
		}, engine.Observer{Transfer: func(tr *engine.Transfer) error {
			if tr.From == 0 {
				m[tr.Collective.OperationType] = append(m[tr.Collective.OperationType], tr.Start)
			}
			return nil
		}})
		return m
	}
	web := engine.Traffic{Name: "web", Clients: everyHost(4), Servers: []int32{4, 5}, MessageSize: 1000, Load: wholeLoad / 1000}
	store := engine.Traffic{Name: "store", Clients: []int32{0, 7}, Servers: []int32{1, 2, 3}, MessageSize: 64_000, Load: wholeLoad / 10}
	alone, both := starts(web), starts(web, store)
	if len(both["store"]) == 0 || len(alone["web"]) == 0 {
		t.Fatalf("web alone starts messages at %v, with store at %v; want some of each application", alone, both)
	}
	if diff := cmp.Diff(alone["web"], both["web"]); diff != "" {
		t.Errorf("another application changes the starts (-want +got):\n%s", diff)
	}
}

// TestTrafficWindow: clients begin at Start and stop before CoolDown. Messages that
// start in WarmUp are sent but not measured.
func TestTrafficWindow(t *testing.T) {
	t.Parallel()
	const us = 1_000_000
	o := engine.Options{Start: 100 * us, WarmUp: 200 * us, CoolDown: 300 * us, Limit: 1000 * us}
	first, last, n := int64(math.MaxInt64), int64(0), int64(0)
	r := run(t, engine.Input{Fabric: oneSwitch(t, 8, 400*gbps, 1000), Traffic: []engine.Traffic{traffic(engine.UniformRandom, 8, 16_000, wholeLoad/2)}, Options: o},
		engine.Observer{Transfer: func(tr *engine.Transfer) error {
			first, last = min(first, tr.Start), max(last, tr.Start)
			n++
			return nil
		}})
	if first < 300*us || first > 301*us || last >= 700*us || last < 699*us {
		t.Errorf("messages from %d to %d ps are measured, want 300 to 700 us", first, last)
	}
	if r.Measured != n || r.Sends != r.SendsTotal || float64(n)/float64(r.Sends) < 0.6 || float64(n)/float64(r.Sends) > 0.73 {
		t.Errorf("%d of %d messages are measured, want about two thirds", n, r.Sends)
	}
	if r.End != engine.Finished || r.Time < 700*us || r.Time > 710*us || len(r.Unfinished) > 0 {
		t.Errorf("ends %v at %d ps with %d unfinished ranks, want %v soon after 700 us with none", r.End, r.Time, len(r.Unfinished), engine.Finished)
	}
}

// TestTrafficConserves: every message of the clients is delivered once, and a run that
// reaches its limit reports the ranks that still have messages in flight.
func TestTrafficConserves(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		hosts := rapid.IntRange(2, 24).Draw(rt, "hosts")
		fabric := leafSpine(t, (hosts+7)/8*8, 2)
		app := traffic(engine.Pattern(rapid.IntRange(0, 2).Draw(rt, "pattern")), hosts,
			rapid.Int64Range(1000, 1<<18).Draw(rt, "size"), rapid.Int64Range(wholeLoad/100, wholeLoad/2).Draw(rt, "load"))
		var sent, received, waiting int64
		r, err := engine.Run(t.Context(), engine.Input{Fabric: fabric, Traffic: []engine.Traffic{app}, Options: engine.Options{
			Routing: engine.Routing(rapid.IntRange(0, 2).Draw(rt, "routing")), Limit: 20_000_000,
			Seed: rapid.Uint64().Draw(rt, "seed"),
		}}, engine.Observer{Rank: func(r *engine.Rank) error {
			sent += r.BytesSent
			received += r.BytesReceived
			if !r.Finished {
				waiting++
			}
			return nil
		}})
		if err != nil {
			rt.Fatal(err)
		}
		if sent != r.Bytes || received != r.Bytes || r.Bytes != r.Sends*app.MessageSize || int64(len(r.Unfinished)) != waiting {
			rt.Fatalf("%d bytes sent and %d received, want %d; %d unfinished ranks reported, want %d", sent, received, r.Bytes, waiting, len(r.Unfinished))
		}
		if (r.Sends == r.SendsTotal) != (waiting == 0) {
			rt.Fatalf("%d of %d messages are delivered and %d ranks are unfinished, want either all messages or some ranks", r.Sends, r.SendsTotal, waiting)
		}
	})
}

func BenchmarkTraffic256(b *testing.B) {
	d, err := topology.Derive(topology.Constraints{SwitchRadix: "64x800G"}, 256)
	if err != nil {
		b.Fatal(err)
	}
	fabric, err := topology.Build(d.Layout())
	if err != nil {
		b.Fatal(err)
	}
	for name, app := range map[string]engine.Traffic{
		"uniform": traffic(engine.UniformRandom, 256, 64_000, wholeLoad/2),
		"incast":  traffic(engine.Incast, 256, 64_000, wholeLoad/200),
	} {
		b.Run(name, func(b *testing.B) {
			var r *engine.Result
			for b.Loop() {
				r = run(b, engine.Input{Fabric: fabric, Traffic: []engine.Traffic{app}, Options: engine.Options{Limit: 300_000_000}}, engine.Observer{})
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(r.Sends), "ns/message")
		})
	}
}
