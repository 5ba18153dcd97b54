package engine

import (
	"slices"

	"netsim/simulator/collective"
	"netsim/simulator/snapshot"
)

// Without synchronization, the messages of a collective from one rank to another follow each
// other: each starts when the last byte of the one before has left the sender. A rank that is
// late in a ring has received data early, and may send all of it at once. Its messages would
// share its link, and each would end as late as the last.
//
// Waiting messages need no list, because a rank makes the sends of a collective in order: if
// one has to wait, its rank makes none. The flow before it is marked as followed, and has an
// event at the instant at which it is drained.

// orders reports whether messages of one pair follow each other. With synchronization no
// rank is late, and only other differences between ranks let a message catch up with the one
// before.
func (in *Input) orders() bool {
	switch {
	case in.Options.Analytical || in.Traffic != nil:
		return false
	case in.Replay != nil:
		return !in.Replay.Synchronize
	default:
		return !in.Synchronize
	}
}

// leavingOf returns the list of the rank's flows in a phase or collective that had not sent
// their last byte when the list was used last. It is nil for messages that follow no other:
// those of uncoordinated traffic, plain sends of traces, and those of algorithms in which a
// rank sends once to each other or waits for acknowledgements.
func (e *engine) leavingOf(from, phase int32) *[]int32 {
	if !e.ordered || phase == none {
		return nil
	}
	if r := &e.replay; r.Schedule != nil {
		if !repeats(&e.planOf(phase).Plan) {
			return nil
		}
		return &r.episodes[phase].members[e.placeIn(phase, from)].leaving
	}
	r := &e.ranks[from]
	if !repeats(&e.groups[r.group].plans[phase]) {
		return nil
	}
	return &r.leaving
}

// repeats reports whether a rank may make several sends to another one at once.
func repeats(p *collective.Plan) bool {
	return p.Order == collective.Chain || p.Order == collective.Exchange
}

// leaves adds a flow that starts to the list of its rank.
func (e *engine) leaves(id int32) {
	f := &e.flows[id]
	if list := e.leavingOf(f.from, f.phase); list != nil {
		*list = append(*list, id)
	}
}

// follows reports whether the rank's next message in a phase or collective has to wait for
// flows to the same rank. The last of them then continues the rank's sends.
func (e *engine) follows(from, to, phase int32) bool {
	list := e.leavingOf(from, phase)
	if list == nil {
		return false
	}
	follows := false
	*list = slices.DeleteFunc(*list, func(id int32) bool {
		if !e.isLeaving(id, from, phase) {
			return true
		}
		if f := &e.flows[id]; f.to == to {
			follows = true
			e.follow(id, f)
		}
		return false
	})
	return follows
}

// isLeaving reports whether the flow is one of the rank's in that phase or collective, and not
// drained. The flow of a list may have ended, and its number may be that of another one.
func (e *engine) isLeaving(id, from, phase int32) bool {
	f := &e.flows[id]
	return f.from == from && f.phase == phase && f.attached && (f.rate == 0 || f.drain > e.now)
}

// follow asks for an event when the flow is drained. If that is not known yet, the event is
// scheduled together with the acknowledgement.
func (e *engine) follow(id int32, f *flow) {
	if f.followed {
		return
	}
	f.followed = true
	if f.queued {
		e.queue.push(f.drain, sent, id, f.stamp)
	}
}

// sent continues the sends of the rank whose flow is drained. They may have to wait for other
// flows of the same striped transfer.
func (e *engine) sent(id int32) {
	f := &e.flows[id]
	f.followed = false
	from, phase := f.from, f.phase
	var t transfer
	e.carries(id, f, &t)
	e.flowSent(id, f, e.shape(f), t.bytes)
	if e.replay.Schedule != nil {
		e.continueMember(phase, e.replay.episodes[phase], e.placeIn(phase, from))
		return
	}
	e.sendReleased(from, &e.groups[e.ranks[from].group].plans[phase])
}

// sendReleased starts the rank's sends that receives have released and that follow no other.
func (e *engine) sendReleased(id int32, plan *collective.Plan) {
	r := &e.ranks[id]
	for int(r.sent) < plan.Sends(int(r.local)) && plan.Released(r.sent, r.received, r.acked, r.steps) {
		if e.ordered && e.waits(id, plan) {
			return
		}
		e.sendNext(id, r, plan)
	}
}

// waits is follows for the next send of the rank's phase.
func (e *engine) waits(id int32, plan *collective.Plan) bool {
	r := &e.ranks[id]
	to, _ := plan.Send(int(r.local), int(r.sent))
	return e.follows(id, e.groups[r.group].first+int32(to), r.phase)
}

// visitLeaving visits the lists of leavingOf, after the flows.
func (e *engine) visitLeaving(c *snapshot.Codec) {
	if !e.ordered {
		return
	}
	visit := func(list *[]int32) {
		snapshot.Slice(c, list, func(id *int32) { snapshot.Index(c, id, 0, len(e.flows)) })
	}
	for i := range e.ranks {
		visit(&e.ranks[i].leaving)
	}
	for _, ep := range e.replay.episodes {
		if ep == nil {
			continue
		}
		for i := range ep.members {
			visit(&ep.members[i].leaving)
		}
	}
}
