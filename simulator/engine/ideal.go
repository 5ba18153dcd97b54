package engine

import "math"

// idealize computes the ideal times of the collectives. The hosts of the ranks must be
// known.
func (e *engine) idealize() {
	for i := range e.groups {
		g := &e.groups[i]
		last := int32(len(e.ranks))
		if i+1 < len(e.groups) {
			last = e.groups[i+1].first
		}
		members := make([]int32, 0, last-g.first)
		for rank := g.first; rank < last; rank++ {
			members = append(members, rank)
		}
		rate := e.slowestOf(members)
		for j := range g.plans {
			g.ideal = append(g.ideal, g.plans[j].Ideal(rate))
		}
	}
	r := &e.replay
	if r.Schedule == nil {
		return
	}
	r.ideals = make([]int64, len(r.Plans))
	for _, c := range r.Collectives {
		if r.ideals[c.Plan] == 0 {
			r.ideals[c.Plan] = r.Plans[c.Plan].Ideal(e.slowestOf(r.Groups[c.Group].Members))
		}
	}
}

// slowestOf returns the rate at which each of the ranks can send to the others: the
// rate of their scale-up group if all are in one, else the rate of the slowest host.
func (e *engine) slowestOf(ranks []int32) int64 {
	rate := int64(math.MaxInt64)
	inside := e.domain(ranks[0], ranks[0])
	for _, r := range ranks {
		rate = min(rate, e.fabric.Rate(e.hosts[r]))
		if e.domain(ranks[0], r) == nil {
			inside = nil
		}
	}
	if inside != nil {
		return inside.Rate
	}
	return rate
}
