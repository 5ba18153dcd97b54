package engine

import (
	"fmt"

	"netsim/simulator/schedule"
)

// episode is a collective that some rank has reached and some rank has not ended.
type episode struct {
	members       []member
	joined, ended int32
	start         int64 // when the last member to start made its first send, ps
	begun         bool
}

// member is a rank's part in an episode.
type member struct {
	node                  int32
	sent, acked, received int32
	steps                 uint64  // received steps of an exchange, a bit each
	leaving               []int32 // see leavingOf
	active, over          bool
}

// join records that a rank has reached a collective.
func (e *engine) join(id, rank, node int32) {
	r := &e.replay
	c := r.Collectives[id]
	g := &r.Groups[c.Group]
	ep := r.episodes[id]
	if ep == nil {
		ep = &episode{members: make([]member, len(g.Members))}
		r.episodes[id] = ep
	}
	position := e.placeIn(id, rank)
	ep.members[position].node = node
	ep.joined++
	switch {
	case !r.synchronize:
		e.activate(id, ep, position)
	case int(ep.joined) == len(g.Members):
		for i := range g.Members {
			e.activate(id, ep, int32(i))
		}
	}
}

// activate allows the member at a position to send.
func (e *engine) activate(id int32, ep *episode, position int32) {
	m := &ep.members[position]
	m.active = true
	if plan := e.planOf(id); plan.Sends(int(position)) > 0 || plan.N == 1 {
		ep.start, ep.begun = e.now, true
	}
	e.continueMember(id, ep, position)
}

func (e *engine) planOf(id int32) *schedule.Plan {
	return &e.replay.Plans[e.replay.Collectives[id].Plan]
}

// placeIn returns the position of the rank among the members of the collective.
func (e *engine) placeIn(id, rank int32) int32 {
	return e.replay.Groups[e.replay.Collectives[id].Group].Place(rank)
}

// continueMember starts the sends that the member may make now, and ends its part
// after its last send and receive.
func (e *engine) continueMember(id int32, ep *episode, position int32) {
	m := &ep.members[position]
	if !m.active || m.over {
		return
	}
	plan := e.planOf(id)
	members := e.replay.Groups[e.replay.Collectives[id].Group].Members
	sends := int32(plan.Sends(int(position)))
	for m.sent < sends && plan.Released(m.sent, m.received, m.acked, m.steps) && e.err == nil {
		to, bytes := plan.Send(int(position), int(m.sent))
		if e.ordered && e.follows(members[position], members[to], id) {
			break
		}
		m.sent++
		e.send(&transfer{from: members[position], to: members[to], phase: id, step: m.sent - 1, bytes: bytes})
	}
	if m.acked < sends || int(m.received) < plan.Receives(int(position)) {
		return
	}
	m.over = true
	e.endNode(members[position], m.node)
	if ep.ended++; int(ep.ended) == len(ep.members) {
		e.finishCollective(id, ep)
	}
}

// partArrived counts a transfer of a collective for both of its members.
func (e *engine) partArrived(t *transfer) {
	id := t.phase
	ep := e.replay.episodes[id]
	from, to := e.placeIn(id, t.from), e.placeIn(id, t.to)
	receiver := &ep.members[to]
	receiver.received++
	receiver.steps |= 1 << (t.step & 63)
	ep.members[from].acked++
	e.continueMember(id, ep, from)
	e.continueMember(id, ep, to)
}

func (e *engine) finishCollective(id int32, ep *episode) {
	c := e.replayed(id, ep)
	e.progress.Collectives++
	e.progress.LastCollective = fmt.Sprintf("%s %d of group %s", c.OperationType, c.ID, c.GroupName)
	if e.observe.Collective != nil {
		e.fail(e.observe.Collective(&c))
	}
	e.replay.episodes[id] = nil
}
