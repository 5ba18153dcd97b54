package engine

import "netsim/simulator/snapshot"

// own says how long a flow would have drained so far beside the flows of its sender only. What
// it drains longer is contention: other ranks used its links. Its sender's flows share the link
// through which they leave, and each could have an equal part of that.
//
// A flow that has been alone since its start has none, and drains as long as it would. The
// others have theirs in a slice beside the flows.
type own struct {
	time int64 // ps, up to flow.since
	rate int64 // bit/s that the flow could have had since then
}

// ownTime returns for how many of the ps from its start until then the flow would have drained
// beside the flows of its sender.
func (e *engine) ownTime(id int32, f *flow, until int64) int64 {
	var sum int64
	if f.shares {
		sum = e.owns[id].time
	}
	if f.rate == 0 {
		return sum
	}
	more := max(min(until, f.drain)-f.since, 0)
	if f.shares && f.rate < e.owns[id].rate {
		more = int64(mulDiv(uint64(more), uint64(f.rate), uint64(e.owns[id].rate)))
	}
	return sum + more
}

// keepOwn keeps the time until now of a flow that will get another rate.
func (e *engine) keepOwn(id int32, f *flow) {
	if !e.causes.on {
		return
	}
	time := e.ownTime(id, f, e.now)
	e.owns = extend(e.owns, id)
	e.owns[id].time, f.shares = time, true
}

// setOwn sets the rate that a flow with a new rate could have beside the flows of its sender: an
// equal part of the first link, or the rate of its slowest one.
func (e *engine) setOwn(id int32, f *flow) {
	if !e.causes.on {
		return
	}
	s, first := e.shape(f), &e.resources[e.path(id)[0].resource]
	alone := int64(mulDiv(uint64(s.wire.bits), picoseconds, uint64(max(s.solo, 1))))
	e.owns[id].rate = max(min(first.rate/int64(len(first.flows)), alone), 1)
}

func (e *engine) visitOwn(c *snapshot.Codec, id int32) {
	e.owns = extend(e.owns, id)
	o := &e.owns[id]
	snapshot.Int(c, &o.time)
	snapshot.Int(c, &o.rate)
	if o.rate < 1 {
		c.Refuse("a flow could have no rate")
	}
}
