package engine

import (
	"fmt"

	"netsim/simulator/schedule"
)

// worldGroup names the group of all ranks, whose name is empty in traces.
const worldGroup = "world"

// replayed describes a collective in its current state.
func (e *engine) replayed(id int32, ep *episode) Collective {
	own := e.replay.Collectives[id]
	g, plan := &e.replay.Groups[own.Group], &e.replay.Plans[own.Plan]
	c := Collective{
		ID: int64(id), Group: own.Group, GroupName: g.Name, GroupSize: plan.N,
		OperationType: plan.Name, Algorithm: plan.Algorithm, DataSize: plan.DataSize,
		Start: ep.start, End: e.now, Finished: int(ep.ended) == plan.N,
		Ideal: e.replay.ideals[own.Plan], AlgorithmBytes: plan.AlgorithmBytes(),
	}
	if c.GroupName == "" {
		c.GroupName = worldGroup
	}
	c.BusNum, c.BusDen = plan.BusFactor()
	return c
}

// reportEpisodes reports the collectives that have begun and not ended.
func (e *engine) reportEpisodes() {
	for id, ep := range e.replay.episodes {
		if ep != nil && ep.begun {
			c := e.replayed(int32(id), ep)
			e.fail(e.observe.Collective(&c))
		}
	}
}

// message describes a plain send as the collective under which results list it.
func message(bytes int64) Collective {
	return Collective{ID: none, Group: none, GroupSize: 2, OperationType: "send", DataSize: bytes}
}

// stuck returns a clause that names a rank, the node in which it waits, and what for. It
// is empty without traces.
func (e *engine) stuck() string {
	r := &e.replay
	for i := range r.ranks {
		for node, waits := range r.ranks[i].waits {
			if waits != 0 {
				continue
			}
			switch n := &r.Ranks[i].Nodes[node]; n.Op {
			case schedule.Receive:
				m := &r.Messages[n.Arg]
				return fmt.Sprintf("rank %d waits in node %d for the message of rank %d with tag %d (its node %d); ",
					i, n.ID, m.From, m.Tag, r.Ranks[m.From].Nodes[m.Send].ID)
			case schedule.Collect:
				return e.stuckIn(int32(i), n)
			default:
			}
		}
	}
	return ""
}

// stuckIn returns a clause that names a rank that has not reached the collective for
// which the node waits.
func (e *engine) stuckIn(rank int32, n *schedule.Node) string {
	r := &e.replay
	c := r.Collectives[n.Arg]
	g := &r.Groups[c.Group]
	name := g.Name
	if name == "" {
		name = worldGroup
	}
	text := fmt.Sprintf("rank %d waits in node %d for %s %d of group %s", rank, n.ID, r.Plans[c.Plan].Name, n.Arg, name)
	for _, other := range g.Members {
		for node := range r.Ranks[other].Nodes {
			m := &r.Ranks[other].Nodes[node]
			if m.Op == schedule.Collect && m.Arg == n.Arg && r.ranks[other].waits[node] > 0 {
				return fmt.Sprintf("%s, which rank %d has not reached (its node %d); ", text, other, m.ID)
			}
		}
	}
	return text + "; "
}
