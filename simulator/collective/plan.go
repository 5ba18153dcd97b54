package collective

import "math/bits"

// Order says what a rank's next send waits for.
type Order uint8

const (
	// Chain: the k-th receive, of any step, releases send k.
	Chain Order = iota
	// Exchange: the partner's send of step k releases send k+1.
	Exchange
	// Turn: the acknowledgement of the rank's own send k releases send k+1.
	Turn
	// Burst: every send starts at once.
	Burst
)

// Plan says how one phase is executed in a group of N ranks. It computes transfers instead of
// listing them, so an allToAll of 4,096 ranks needs as much memory as one of 8. Ranks are
// numbered inside the group; the root of a broadcast or scatter is rank 0.
type Plan struct {
	Phase
	N     int
	Order Order

	operation operation
	chunk     int64 // C = ceil(S/N) bytes
	log       int   // log2 N, used by Exchange
	steps     int   // number of sends of each rank that sends
}

// NewPlan plans a phase whose algorithm Resolve has filled in.
func NewPlan(p Phase, n int) Plan {
	plan := Plan{
		Phase: p, N: n, Order: AlgorithmNamed(p.Algorithm).order, operation: operationNamed(p.OperationType),
		chunk: (p.DataSize + int64(n) - 1) / int64(n), log: bits.Len(uint(n)) - 1,
	}
	plan.steps = plan.operation.rounds * (n - 1)
	if plan.Order == Exchange {
		plan.steps = plan.operation.rounds * plan.log
	}
	return plan
}

// Sends returns the number of transfers from the rank.
func (p *Plan) Sends(rank int) int {
	if p.operation.rooted && rank != 0 {
		return 0
	}
	return p.steps
}

// Receives returns the number of transfers to the rank.
func (p *Plan) Receives(rank int) int {
	if !p.operation.rooted {
		return p.steps
	}
	if rank == 0 {
		return 0
	}
	return 1
}

// Transfers returns the number of transfers of the whole group.
func (p *Plan) Transfers() int64 {
	if p.operation.rooted {
		return int64(p.steps)
	}
	return int64(p.steps) * int64(p.N)
}

// Send returns the target and the bytes of the rank's send of the step,
// 0 ≤ step < Sends(rank).
func (p *Plan) Send(rank, step int) (to int, bytes int64) {
	switch p.Order {
	case Chain:
		to = rank + 1
		if to == p.N {
			to = 0
		}
	case Exchange:
		// Halving starts with the farthest partner and the largest part.
		// Doubling takes the same steps in reverse.
		level := p.log - 1 - step
		if level < 0 {
			level = step - p.log
		}
		return rank ^ 1<<level, p.chunk << level
	default:
		to = rank + 1 + step
		if to >= p.N {
			to -= p.N
		}
	}
	if p.operation.whole {
		return to, p.DataSize
	}
	return to, p.chunk
}

// Released reports whether a rank may make its next send, that of the step. received
// is the number of its receives, steps has a bit set for the step of each receive, and
// acked is the number of its acknowledged sends.
func (p *Plan) Released(step, received, acked int32, steps uint64) bool {
	switch {
	case step == 0 || p.Order == Burst:
		return true
	case p.Order == Chain:
		return received >= step
	case p.Order == Exchange:
		return steps>>(step-1)&1 == 1
	default:
		return acked >= step
	}
}

// Ideal returns the closed-form time in picoseconds of the algorithm between NICs
// of rate bit/s, without latency, headers or contention (completions.md 5.6).
func (p *Plan) Ideal(rate int64) int64 {
	n := uint64(p.N)
	// The bits through the busiest NIC are work/divisor.
	work := uint64(p.DataSize) * 8 * (n - 1) * uint64(p.operation.rounds)
	divisor := n
	if p.operation.whole {
		divisor = 1
	}
	hi, lo := bits.Mul64(work, 1e12)
	if hi >= divisor*uint64(rate) {
		return 1<<63 - 1
	}
	t, _ := bits.Div64(hi, lo, divisor*uint64(rate))
	return int64(min(t, 1<<63-1))
}

// AlgorithmBytes returns the size on which the algorithm bandwidth is based: N·S for
// allGather, S for the other operations.
func (p *Plan) AlgorithmBytes() int64 {
	if p.operation.perRank() {
		return p.DataSize * int64(p.N)
	}
	return p.DataSize
}

// BusFactor returns the ratio of bus bandwidth to algorithm bandwidth as a fraction.
func (p *Plan) BusFactor() (num, den int64) {
	if p.operation.whole && p.operation.rooted {
		return 1, 1
	}
	n := int64(p.N)
	return int64(p.operation.rounds) * (n - 1), n
}

// TotalBytes returns the payload of all transfers of the group.
func (p *Plan) TotalBytes() int64 {
	if p.operation.rooted {
		_, each := p.Send(0, 0)
		return int64(p.steps) * each
	}
	var bytes int64
	if p.Order == Exchange {
		for step := range p.steps {
			_, b := p.Send(0, step)
			bytes += b
		}
	} else if p.steps > 0 {
		_, each := p.Send(0, 0)
		bytes = int64(p.steps) * each
	}
	return bytes * int64(p.N)
}
