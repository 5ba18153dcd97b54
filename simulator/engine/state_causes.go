package engine

import "netsim/simulator/snapshot"

func (c *cause) visit(codec *snapshot.Codec, e *engine, index int) {
	snapshot.Index(codec, &c.previous, none, index)
	snapshot.Index(codec, &c.from, 0, len(e.ranks))
	snapshot.Index(codec, &c.to, none, len(e.ranks))
	snapshot.Index(codec, &c.of, none, maxIndex)
	snapshot.Index(codec, &c.step, none, maxIndex)
	snapshot.Index(codec, &c.limit, none, len(e.resources))
	snapshot.Index(codec, &c.count, 1, maxIndex)
	snapshot.Int(codec, &c.users)
	for _, v := range []*int64{&c.bytes, &c.longest, &c.compute, &c.sending, &c.contention, &c.latency} {
		snapshot.Int(codec, v)
	}
	if !codec.Failed() {
		e.checkCause(codec, c)
	}
}

// checkCause refuses a cause that no activity of the input can be.
func (e *engine) checkCause(codec *snapshot.Codec, c *cause) {
	r, ok := &e.replay, true
	switch {
	case c.to == none:
		ok = r.Schedule != nil && c.of >= 0 && int(c.of) < len(r.Ranks[c.from].Nodes)
	case r.Schedule != nil && c.of == none:
		ok = c.step >= 0 && int(c.step) < len(r.Messages)
	case r.Schedule != nil:
		ok = int(c.of) < len(r.Collectives)
	default:
		g := e.ranks[c.from].group
		ok = g != none && c.of >= 0 && int(c.of) < len(e.groups[g].plans)
	}
	if !ok {
		codec.Refuse("a cause is not an activity of the input")
	}
}

// visitCauses visits the causes in use, before the flows that refer to them.
func (e *engine) visitCauses(c *snapshot.Codec) {
	s := &e.causes
	index := 0
	snapshot.Slice(c, &s.list, func(of *cause) {
		of.visit(c, e, index)
		index++
	})
	snapshot.Index(c, &s.current, none, len(s.list))
	snapshot.Int(c, &s.added)
	snapshot.Index(c, &s.chain, 1, maxIndex)
}
