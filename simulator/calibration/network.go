package calibration

import (
	"context"
	"fmt"
	"math"

	"netsim/simulator/collective"
	"netsim/simulator/engine"
	"netsim/simulator/topology"
)

// Network is a network of equal links in which the engine's rings take the times of a log.
type Network struct {
	Hops  int     // links between two ranks that follow each other in the ring
	Rate  int64   // bit/s of a link
	Delay int64   // ps of a link
	Worst float64 // percent: the largest residual of the engine's times
}

// maxRounds bounds the rounds of a fit. Its function is linear but for the acknowledgements of
// short messages, so it takes a few.
const maxRounds = 16

// Network fits the links of a network to the log: 2 hops are a rack, 4 are a rack for each rank
// below one switch. The steps of a ring are alike, so one message for each size says how long
// the ring takes.
func (f *Fit) Network(ctx context.Context, hops int, packet engine.Packet) (best Network, err error) {
	best.Hops = hops
	least := math.Inf(1)
	delay, inverse := 1e6*f.Latency/float64(2*hops), 1000/f.Bandwidth // ps, ps a bit
	for range maxRounds {
		n := Network{Hops: hops, Rate: int64(math.Round(1e12 / inverse)), Delay: int64(math.Round(delay))}
		farther, slower := n, n
		farther.Delay += max(n.Delay/64, 1000)
		slower.Rate -= n.Rate / 64
		terms, sum := make([]term, 0, len(f.Rows)), 0.0
		known := map[int64][3]float64{}
		for _, r := range f.Rows {
			chunk := (r.Bytes + int64(f.Ranks) - 1) / int64(f.Ranks)
			times, again := known[chunk]
			for i, links := range []Network{n, farther, slower} {
				if again {
					break
				}
				if times[i], err = links.step(ctx, chunk, packet); err != nil {
					return best, err
				}
			}
			known[chunk] = times
			scale := float64(f.Steps) / (1e6 * r.Measured)
			now := scale * times[0]
			a := scale * (times[1] - times[0]) / float64(farther.Delay-n.Delay)
			b := scale * (times[2] - times[0]) / (1e12/float64(slower.Rate) - 1e12/float64(n.Rate))
			terms = append(terms, term{a, b, 1 - now + a*float64(n.Delay) + b*1e12/float64(n.Rate)})
			sum += square(now - 1)
			n.Worst = max(n.Worst, 100*math.Abs(1/now-1))
		}
		if sum >= least {
			break
		}
		best, least = n, sum
		if delay, inverse = fit(terms); inverse <= 0 {
			break
		}
	}
	return best, nil
}

// step returns how long a message takes in the network, in ps.
func (n *Network) step(ctx context.Context, bytes int64, packet engine.Packet) (float64, error) {
	server := topology.Server{Component: "server", NICs: []topology.NIC{{Component: "nic", Rate: n.Rate, Delay: n.Delay}}}
	leaf := topology.Switch{Component: "leaf", UpLinks: 1, UpRate: n.Rate, DownRate: n.Rate, UpLinkDelay: n.Delay}
	rack := func(servers ...topology.Server) topology.Rack {
		return topology.Rack{Switches: []topology.Switch{leaf}, Servers: servers}
	}
	layout := topology.Layout{Racks: []topology.Rack{rack(server, server)}}
	if n.Hops > 2 {
		layout = topology.Layout{Pods: []topology.Pod{{Switches: []topology.Switch{{Component: "spine", DownRate: n.Rate}}, Racks: []topology.Rack{rack(server), rack(server)}}}}
	}
	fabric, err := topology.Build(layout)
	if err != nil {
		return 0, fmt.Errorf("links of %d bit/s and %d ps: %w", n.Rate, n.Delay, err)
	}
	message := collective.Phase{OperationType: collective.Broadcast, Algorithm: collective.Sequential, DataSize: bytes}
	r, err := engine.Run(ctx, engine.Input{
		Fabric: fabric, Groups: []collective.GroupSpec{{Count: 1, GroupSize: 2, Phases: []collective.Phase{message}}},
		Options: engine.Options{NICs: []engine.NIC{{Packet: packet}}},
	}, engine.Observer{})
	if err != nil {
		return 0, err
	}
	return float64(r.Time), nil
}
