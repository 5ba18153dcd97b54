package program

import "netsim/simulator/collective"

// The operations that only traces have.
const (
	Reduce  = "reduce"
	Gather  = "gather"
	Barrier = "barrier"
)

// Plan is how a collective is executed. It adds the operations that only traces have to
// those of simple submissions. Reduce and gather are broadcast and scatter with every
// transfer reversed, all at once. A barrier is an allReduce of one byte.
type Plan struct {
	collective.Plan

	Name   string // of the operation, in results
	Inward bool   // transfers are reversed
}

// NewPlan plans an operation of package collective, or a reduce, gather or
// barrier, of n ranks. The errors are those of collective.Resolve.
func NewPlan(operation, algorithm string, bytes int64, n int) (Plan, error) {
	p := Plan{Name: operation}
	switch operation {
	case Reduce:
		operation, algorithm, p.Inward = collective.Broadcast, collective.Interleaved, true
	case Gather:
		operation, algorithm, p.Inward = collective.Scatter, collective.Direct, true
	case Barrier:
		operation, bytes = collective.AllReduce, 1
	}
	spec := []collective.GroupSpec{{Count: 1, GroupSize: n, Phases: []collective.Phase{
		{OperationType: operation, Algorithm: algorithm, DataSize: bytes},
	}}}
	resolved, err := collective.Resolve(nil, spec, true)
	if err != nil {
		return p, err
	}
	p.Plan = collective.NewPlan(resolved[0].Phases[0], n)
	return p, nil
}

// Sends returns the number of transfers from the member.
func (p *Plan) Sends(place int) int {
	if p.Inward {
		return p.Plan.Receives(place)
	}
	return p.Plan.Sends(place)
}

// Receives returns the number of transfers to the member.
func (p *Plan) Receives(place int) int {
	if p.Inward {
		return p.Plan.Sends(place)
	}
	return p.Plan.Receives(place)
}

// Send returns the target and the bytes of the member's send of the step.
func (p *Plan) Send(place, step int) (to int, bytes int64) {
	if p.Inward {
		_, bytes = p.Plan.Send(0, place-1)
		return 0, bytes
	}
	return p.Plan.Send(place, step)
}

// Released reports whether the member may make its next send, that of the step. received
// counts its receives, steps has a bit for the step of each, and acked counts its
// acknowledged sends.
func (p *Plan) Released(step, received, acked int32, steps uint64) bool {
	switch {
	case step == 0 || p.Order == collective.Burst:
		return true
	case p.Order == collective.Chain:
		return received >= step
	case p.Order == collective.Exchange:
		return steps>>(step-1)&1 == 1
	default:
		return acked >= step
	}
}
