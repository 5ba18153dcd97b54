package engine

import "slices"

// maxPathSteps bounds the steps of Result.Path. Longer paths are merged in pairs, first
// within collectives.
const maxPathSteps = 1 << 16

// PathStep is an activity on the critical path, or several consecutive ones that were merged.
// These have the times of all, and otherwise the fields of the longest.
type PathStep struct {
	Rank       int32  // that computes or sends
	To         int32  // the receiver; -1 for a computation
	Node       uint64 // of a computation: as in the trace
	Collective int64  // of a transfer: its collective's ID; -1 for a plain send
	Operation  string // of a transfer: the collective's operation, or send
	Bytes      int64  // of a transfer: payload of the longest
	Activities int64

	Start   int64 // ps; the step before it ends then, and the first starts at Options.Start
	Compute int64 // ps
	// Sending is how long the transfers would have drained beside those of their senders only,
	// Contention how much longer they drained because other ranks used their links, and Latency
	// the time from the last bit sent to the last acknowledgement; ps. Latency is 0 if the next step is a message to the same rank that
	// waited only until this one was sent.
	Sending, Contention, Latency int64
	// Limit is the resource that limited the transfer when it was drained; nil for none.
	Limit *Limit
}

// Time returns how long the step took, in ps.
func (s *PathStep) Time() int64 { return s.Compute + s.Sending + s.Contention + s.Latency }

// criticalPath returns the path to the activity that ended last, the earliest step first.
func (e *engine) criticalPath() []PathStep {
	var path []cause
	for at := e.causes.current; at != none; at = e.causes.list[at].previous {
		path = append(path, e.causes.list[at])
	}
	slices.Reverse(path)
	for unlike := false; len(path) > maxPathSteps; unlike = true {
		for n := 0; len(path) > maxPathSteps && n != len(path); {
			n = len(path)
			path = mergePairs(path, unlike)
		}
	}
	switches := e.limitedSwitches()
	steps := make([]PathStep, len(path))
	at := e.options.Start
	for i := range path {
		steps[i] = e.pathStep(&path[i], switches)
		steps[i].Start = at
		at += steps[i].Time()
	}
	return steps
}

// mergePairs merges each step of a path with the one before it, unless that was merged or
// must not be.
func mergePairs(path []cause, unlike bool) []cause {
	merged := path[:0]
	pair := false // the last of merged may take another step
	for i := range path {
		c := path[i]
		if last := len(merged) - 1; pair && (unlike || c.like(&merged[last])) {
			c.absorb(&merged[last])
			merged[last], pair = c, false
			continue
		}
		merged, pair = append(merged, c), true
	}
	return merged
}

func (e *engine) pathStep(c *cause, switches map[int32]int32) PathStep {
	s := PathStep{
		Rank: c.from, To: c.to, Collective: none, Bytes: c.bytes, Activities: int64(c.count),
		Compute: c.compute, Sending: c.sending, Contention: c.contention, Latency: c.latency,
	}
	r := &e.replay
	switch {
	case c.to == none:
		s.Node = r.Ranks[c.from].Nodes[c.of].ID
	case r.Schedule == nil:
		g := &e.groups[e.ranks[c.from].group]
		s.Collective, s.Operation = g.firstID+int64(c.of), g.plans[c.of].OperationType
	case c.of == none:
		s.Operation = message(c.bytes).OperationType
	default:
		s.Collective, s.Operation = int64(c.of), r.Plans[r.Collectives[c.of].Plan].Name
	}
	if c.limit != none {
		limit := e.limit(c.limit, switches)
		s.Limit = &limit
	}
	return s
}
