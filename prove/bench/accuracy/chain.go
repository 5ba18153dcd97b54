package main

import (
	"context"
	"slices"

	"netsim/prove/bench/reference"
	"netsim/simulator/collective"
	"netsim/simulator/engine"
)

// Without contention a collective is a chain of steps, and each step takes as long as
// its slowest message. This file compares cases whose network or algorithm netsim
// does not have. It runs every message by itself, between two hosts.

// message is a transfer from one rank to another.
type message struct {
	hops, bytes int64
}

// chainOf returns the steps of a collective of ASTRA-sim whose chunks (splits) run one
// after the other. It returns nil for an unknown algorithm.
func chainOf(network, operation, algorithm string, size int64, n, splits int) [][]message {
	hops := func(distance int) int64 {
		switch network {
		case "Switch":
			return 2
		case "Ring":
			return int64(min(distance, n-distance)) // the shorter way
		default:
			return 1
		}
	}
	one := func(distance int, bytes int64) []message { return []message{{hops(distance), bytes}} }
	part := size / int64(n)
	var chain, first [][]message // the steps of a chunk, and of the first chunk
	switch algorithm {
	case "direct":
		bytes := part
		if operation == "all_gather" {
			bytes = size
		}
		var all []message
		for distance := 1; distance < n; distance++ {
			all = append(all, message{hops(distance), bytes})
		}
		chain = [][]message{all}
		if operation == "all_reduce" {
			chain = append(chain, all)
		}
	case "halvingDoubling":
		for distance := 1; distance < n; distance *= 2 {
			chain = append(chain, one(distance, part*int64(distance)))
		}
		switch operation {
		case "all_reduce":
			back := slices.Clone(chain)
			slices.Reverse(back)
			chain = append(back, chain...)
		case "all_gather":
			for _, step := range chain {
				step[0].bytes *= int64(n) // size is the contribution of each rank
			}
		}
	case "doubleBinaryTree":
		// The whole chunk goes up the tree and down again, over every edge. Chunks
		// alternate between two trees, so the last message of a chunk and the first
		// message of the next chunk are sent at the same time.
		for distance := 1; distance < n; distance *= 2 {
			chain = append(chain, one(distance, size))
		}
		down := slices.Clone(chain)
		slices.Reverse(down)
		first = append(slices.Clone(chain), down...)
		chain = first[1:]
	default:
		return nil
	}
	if first == nil {
		first = chain
	}
	return append(slices.Clone(first), slices.Repeat(chain, splits-1)...)
}

// compareChain runs the chain's messages, each once.
func (c *astraRow) compareChain(ctx context.Context, s *section) error {
	took := map[message]int64{} // ps
	var total int64
	for _, step := range c.chain {
		slowest := int64(0)
		for _, m := range step {
			if _, known := took[m]; !known {
				n := reference.Network{Racks: 1, Hosts: 2, Rate: c.rate, Delay: m.hops * c.delay / 2, MSS: c.mss}
				pair, err := reference.OneGroup(n, collective.Phase{
					OperationType: collective.Broadcast, Algorithm: collective.Sequential, DataSize: m.bytes,
				})
				if err != nil {
					return err
				}
				in, err := pair.Input(ctx)
				if err != nil {
					return err
				}
				in.Options.Analytical = true
				r, err := engine.Run(ctx, in, engine.Observer{})
				if err != nil {
					return err
				}
				took[m] = r.Time
			}
			slowest = max(slowest, took[m])
		}
		total += slowest
	}
	ns := float64(total)/1000 + c.adds
	s.Rows = append(s.Rows, row{c.name, ns, ns, c.theirs, nil})
	return nil
}
