package schedule

import "netsim/simulator/collective"

// The operations that only traces have.
const (
	Reduce  = "reduce"
	Gather  = "gather"
	Barrier = "barrier"
)

// Plan says how a collective is executed. It covers the operations of simple submissions
// and those that only traces have. Reduce and gather are broadcast and scatter with every
// transfer reversed; these transfers all start at once. A barrier is an allReduce of
// one byte.
type Plan struct {
	collective.Plan

	Name   string // the operation's name in results
	Inward bool   // transfers are reversed
}

// NewPlan plans an operation among n ranks: one of package collective, or a
// reduce, gather or barrier. The errors are those of collective.Resolve.
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
func (p *Plan) Sends(member int) int {
	if p.Inward {
		return p.Plan.Receives(member)
	}
	return p.Plan.Sends(member)
}

// Receives returns the number of transfers to the member.
func (p *Plan) Receives(member int) int {
	if p.Inward {
		return p.Plan.Sends(member)
	}
	return p.Plan.Receives(member)
}

// Send returns the target and the bytes of the member's send of the step.
func (p *Plan) Send(member, step int) (to int, bytes int64) {
	if p.Inward {
		_, bytes = p.Plan.Send(0, member-1)
		return 0, bytes
	}
	return p.Plan.Send(member, step)
}
