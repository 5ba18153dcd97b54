package engine

import "slices"

// causes remembers which activity released which, for the critical path. An activity is a
// computation or a flow. The engine starts an activity while it handles the event that
// ends another one: the last of those for which the new one waited. So the cause of an
// activity is the activity that ended last before it started, and an activity starts at the
// instant at which its cause ended. A message that had to wait until the one before it was
// sent (order.go) has that one as its cause, without the time from its last byte to its
// acknowledgement.
//
// Every ended activity is a cause. At each sweep those from which nothing in flight
// descends are dropped. If too many are left, chains of causes are merged in pairs, and
// from then on twice as many activities of a chain become one cause. So memory is bounded,
// and sums stay exact.
type causes struct {
	on      bool
	every   int64 // causes added between two sweeps
	keep    int   // causes from which on a sweep merges
	current int32 // the activity whose end is handled, or none
	list    []cause
	added   int64 // causes added since the start of the run
	held    int   // flows in flight that have a cause
	chain   int32 // how many activities of a chain become one cause
}

// cause is an ended activity, or several consecutive ones that were merged. These have the
// sums of all, and otherwise the fields of the longest.
type cause struct {
	previous int32 // its own cause, an earlier one in the list, or none
	from, to int32 // ranks; to is none for a computation
	of       int32 // the phase or collective of a transfer; the node of a computation
	step     int32 // of the transfer, as in transfer
	limit    int32 // the resource that limited the flow when it was drained, or none
	count    int32 // activities
	users    int32 // activities that it started, directly
	bytes    int64 // payload of the longest
	longest  int64 // ps, its time
	spent
}

// spent is how the time of activities on the critical path divides, in ps.
type spent struct{ compute, sending, contention, latency int64 }

// manyCauses is the number of causes, of some 80 bytes each, that are added between two
// sweeps, and from which on a sweep merges. More stay only if more activities are in flight.
const manyCauses = 1 << 16

// flowEnded makes the acknowledged flow the current cause.
func (e *engine) flowEnded(id int32, f *flow, s *shape, bytes int64) {
	if !e.causes.on {
		return
	}
	c := e.describe(id, f, s, bytes)
	if f.cause != none {
		f.cause = none
		e.causes.held--
	}
	e.addCause(c)
}

// flowSent makes the drained flow the current cause, up to its last byte. The flow is still in
// flight, and becomes another cause, with its latency, when it is acknowledged.
func (e *engine) flowSent(id int32, f *flow, s *shape, bytes int64) {
	if !e.causes.on {
		return
	}
	if f.cause != none {
		e.causes.list[f.cause].users++ // else either of the two might be merged into it
	}
	e.addCause(e.describe(id, f, s, bytes))
}

// describe makes the flow, from its start until now, the next cause. It sets each field by
// itself, as launch does. What a flow drains faster before the first acknowledgements is taken
// from its draining, not from its latency.
func (e *engine) describe(id int32, f *flow, s *shape, bytes int64) *cause {
	c := e.causes.next()
	c.previous, c.from, c.to, c.of, c.step = f.cause, f.from, f.to, f.phase, f.step
	c.limit, c.count, c.users = f.limit, 1, 0
	drained := f.drain - f.start
	own := min(max(e.ownTime(id, f, f.drain), s.solo), drained)
	early, ownEarly := int64(0), int64(0) // unless the flow is described before its acknowledgement, at f.drain
	if e.now > f.drain {
		early, ownEarly = e.unhindered(s, drained), e.unhindered(s, own)
	}
	c.bytes, c.longest = bytes, e.now-f.start
	c.compute, c.sending = 0, own-ownEarly
	c.contention, c.latency = drained-early-c.sending, e.now-f.drain+early
	return c
}

// computationEnded makes the computation the current cause.
func (e *engine) computationEnded(rank, node, began int32, time int64) {
	if e.causes.on {
		c := e.causes.next()
		*c = cause{
			previous: began, from: rank, to: none, of: node, step: none, limit: none, count: 1, longest: time,
			spent: spent{compute: time},
		}
		e.addCause(c)
	}
}

// start returns the cause of an activity that starts now.
func (s *causes) start() int32 {
	if !s.on {
		return none
	}
	if s.current != none {
		s.list[s.current].users++
	}
	return s.current
}

// next returns the cause behind the last one, which addCause may add. So it need not be copied.
func (s *causes) next() *cause {
	n := len(s.list)
	if n == cap(s.list) {
		s.list = slices.Grow(s.list, max(n, 1024))
	}
	return &s.list[:n+1][n]
}

// addCause makes the cause of next the current one: it adds it to the list, or merges it with
// the one before.
func (e *engine) addCause(c *cause) {
	s := &e.causes
	if at := c.previous; at != none && s.chain > 1 {
		if before := &s.list[at]; before.users == 1 && before.count < s.chain && c.like(before) {
			before.absorb(c)
			s.current = at
			return
		}
	}
	s.current = int32(len(s.list))
	s.list = s.list[:len(s.list)+1]
	if s.added++; s.added%s.every == 0 {
		e.sweepCauses()
	}
}

// sweepCauses drops causes, and merges others if too many are left.
func (e *engine) sweepCauses() {
	if e.dropCauses() <= e.causes.keep {
		return
	}
	e.causes.chain = min(2*e.causes.chain, 1<<30)
	for e.mergeCauses(false) || e.mergeCauses(true) {
		if e.dropCauses() <= e.causes.keep {
			return
		}
	}
}

// tips calls visit for every cause of an activity in flight, and for the current one.
func (e *engine) tips(visit func(at *int32)) {
	visit(&e.causes.current)
	held := e.causes.held
	for i := 0; held > 0; i++ {
		if at := &e.flows[i].cause; *at != none {
			visit(at)
			held--
		}
	}
	for i := range e.replay.ranks {
		for k := range e.replay.ranks[i].processors {
			visit(&e.replay.ranks[i].processors[k].cause)
		}
	}
}

// Uses of a cause: by nothing, by one later cause, or by several or an activity in flight.
const (
	unused = iota
	usedOnce
	shared
)

// useCauses returns how each cause is used, directly or by causes that are used.
func (e *engine) useCauses() []uint8 {
	list := e.causes.list
	uses := make([]uint8, len(list))
	e.tips(func(at *int32) {
		if *at != none {
			uses[*at] = shared
		}
	})
	for i := len(list) - 1; i >= 0; i-- {
		if before := list[i].previous; uses[i] != unused && before != none {
			uses[before] = min(uses[before]+1, shared)
		}
	}
	return uses
}

// dropCauses removes the unused causes and returns the number of the others. Whether it is
// also called between two sweeps makes no difference to later ones.
func (e *engine) dropCauses() int {
	s, uses := &e.causes, e.useCauses()
	moved := make([]int32, len(s.list))
	kept := s.list[:0]
	at := func(old int32) int32 {
		if old == none {
			return none
		}
		return moved[old]
	}
	for i := range s.list {
		if uses[i] == unused {
			continue
		}
		moved[i] = int32(len(kept))
		c := s.list[i]
		c.previous = at(c.previous)
		kept = append(kept, c)
	}
	s.list = kept
	e.tips(func(tip *int32) { *tip = at(*tip) })
	return len(kept)
}

// mergeCauses merges causes with their previous one if nothing else uses that: every second
// one of a chain. It merges only activities of one kind, rank and collective, or any. It
// reports whether it merged some.
func (e *engine) mergeCauses(unlike bool) bool {
	list, uses := e.causes.list, e.useCauses()
	merged := make([]bool, len(list))
	found := false
	for i := range list {
		c := &list[i]
		before := c.previous
		if before == none || uses[before] != usedOnce || merged[before] || !unlike && !c.like(&list[before]) {
			continue
		}
		first := list[before]
		first.absorb(c)
		*c = first
		merged[i], found = true, true
	}
	return found
}

// like reports whether both are transfers of one collective, or computations of one rank.
func (c *cause) like(d *cause) bool {
	if c.to == none || d.to == none {
		return c.to == d.to && c.from == d.from
	}
	return c.of == d.of
}

// absorb merges the cause with the next one of its chain.
func (c *cause) absorb(next *cause) {
	if next.longest >= c.longest {
		c.from, c.to, c.of, c.step, c.limit = next.from, next.to, next.of, next.step, next.limit
		c.bytes, c.longest = next.bytes, next.longest
	}
	c.users = next.users
	c.count += next.count
	c.compute += next.compute
	c.sending += next.sending
	c.contention += next.contention
	c.latency += next.latency
}
