package engine

import (
	"fmt"
	"slices"

	"netsim/simulator/schedule"
)

// replaying is the state of a schedule's ranks.
//
// A node starts when all nodes that it waits for are over. Computations use the rank's
// accelerator or its host's processor, one at a time on each, in the order in which
// they become ready. With exclusive, a rank runs its sends and collectives one at a
// time: when one ends, the ready node that is earliest in the trace starts. A send does
// not wait for its receive; both are over when the message is acknowledged. A
// collective starts on a rank when its node does; with synchronize it starts on all
// ranks when the last rank's node does. It is over on a rank when all of the rank's own
// transfers are.
type replaying struct {
	*schedule.Schedule
	synchronize bool
	exclusive   bool

	ranks     []replayer
	delivered []bool // by message
	posted    []bool // by message: its receive has started
	episodes  []*episode
	ideals    []int64    // by plan: closed form at the members' rate, ps
	ready     []rankNode // nodes to start now
	idle      []int32    // ranks whose communication may be free while a node waits for it
}

// replayer is one rank.
type replayer struct {
	waits      []int32 // by node: how many nodes it still waits for; none after its end
	left       int32   // nodes that are not over
	processors [2]processor
	wire       processor // of sends and collectives, when they are exclusive
}

// processor is a resource that nodes of a rank use one at a time: its accelerator,
// its host's processor, or its communication.
type processor struct {
	queue []int32 // the running node, except of communication, and then the waiting nodes
	busy  bool    // a node runs
	cause int32   // of a running computation: the activity whose end started it, or none
}

func (r *replayer) all() [3]*processor {
	return [...]*processor{&r.processors[0], &r.processors[1], &r.wire}
}

// rankNode is a node of a rank.
type rankNode struct{ rank, node int32 }

// addProgram prepares the ranks of a replay.
func (e *engine) addProgram(in *Replay, hosts []int32) error {
	if in == nil {
		return nil
	}
	if len(e.ranks) > 0 {
		return fmt.Errorf("traces and other ranks cannot run together")
	}
	n := len(in.Schedule.Ranks)
	if err := e.placeRanks(n, hosts); err != nil {
		return err
	}
	r := &e.replay
	*r = replaying{
		Schedule: in.Schedule, synchronize: in.Synchronize, exclusive: in.Exclusive, ranks: make([]replayer, n),
		delivered: make([]bool, len(in.Schedule.Messages)), posted: make([]bool, len(in.Schedule.Messages)),
		episodes: make([]*episode, len(in.Schedule.Collectives)),
	}
	for i := range in.Schedule.Ranks {
		nodes := in.Schedule.Ranks[i].Nodes
		waits := make([]int32, len(nodes))
		for k := range nodes {
			waits[k] = nodes[k].Waits
		}
		r.ranks[i] = replayer{waits: waits, left: int32(len(nodes))}
		for _, p := range r.ranks[i].all() {
			p.cause = none
		}
		e.ranks = append(e.ranks, rank{group: none, route: route{to: none}, done: Rank{Rank: int32(i)}})
	}
	p := &e.progress
	p.SendsTotal, p.BytesTotal = in.Schedule.Transfers()
	p.ComputationsTotal = in.Schedule.Computations
	p.CollectivesTotal = len(in.Schedule.Collectives)
	p.RanksTotal = n
	return nil
}

// beginReplay starts the nodes that wait for nothing.
func (e *engine) beginReplay() {
	for i := range e.replay.ranks {
		r := &e.replay.ranks[i]
		if r.left == 0 {
			e.finishRank(int32(i))
		}
		for node, waits := range r.waits {
			if waits == 0 {
				e.replay.ready = append(e.replay.ready, rankNode{rank: int32(i), node: int32(node)})
			}
		}
	}
	e.advanceReplay()
}

// advanceReplay starts the ready nodes, and the nodes that they release at once. It
// assigns free communication last, when all nodes that can use it at this instant
// are queued.
func (e *engine) advanceReplay() {
	r := &e.replay
	for e.err == nil && len(r.ready)+len(r.idle) > 0 {
		for i := 0; i < len(r.ready) && e.err == nil; i++ {
			e.startNode(r.ready[i])
		}
		r.ready = r.ready[:0]
		idle := len(r.idle)
		for _, rank := range r.idle[:idle] {
			e.communicate(rank)
		}
		r.idle = slices.Delete(r.idle, 0, idle)
	}
}

// communicate starts the earliest node that waits for the rank's communication, if
// the communication is free.
func (e *engine) communicate(rank int32) {
	w := &e.replay.ranks[rank].wire
	if w.busy || len(w.queue) == 0 {
		return
	}
	w.busy = true
	node := w.queue[0]
	w.queue = w.queue[1:]
	e.perform(rank, node)
}

// endNode ends a node and releases the nodes that waited for it.
func (e *engine) endNode(rank, node int32) {
	r := &e.replay
	own := &r.ranks[rank]
	for _, f := range r.Ranks[rank].Followers(node) {
		if own.waits[f]--; own.waits[f] == 0 {
			r.ready = append(r.ready, rankNode{rank: rank, node: f})
		}
	}
	own.waits[node] = none
	if r.exclusive && communicates(&r.Ranks[rank].Nodes[node]) {
		own.wire.busy = false
		r.idle = append(r.idle, rank)
	}
	if own.left--; own.left == 0 {
		e.finishRank(rank)
	}
}

func (e *engine) finishRank(rank int32) {
	e.ranks[rank].finished = true
	e.progress.Ranks++
	e.reportRank(rank)
}

func communicates(n *schedule.Node) bool { return n.Op == schedule.Send || n.Op == schedule.Collect }

// startNode starts a node, or queues it for the rank's communication.
func (e *engine) startNode(t rankNode) {
	r := &e.replay
	if !r.exclusive || !communicates(&r.Ranks[t.rank].Nodes[t.node]) {
		e.perform(t.rank, t.node)
		return
	}
	w := &r.ranks[t.rank].wire
	at, _ := slices.BinarySearch(w.queue, t.node)
	w.queue = slices.Insert(w.queue, at, t.node)
	r.idle = append(r.idle, t.rank)
}

func (e *engine) perform(rank, node int32) {
	r := &e.replay
	n := &r.Ranks[rank].Nodes[node]
	switch n.Op {
	case schedule.Pass:
		e.endNode(rank, node)
	case schedule.Compute:
		p := &r.ranks[rank].processors[processorOf(n)]
		p.queue = append(p.queue, node)
		if !p.busy {
			e.compute(rank, processorOf(n))
		}
	case schedule.Send:
		if m := &r.Messages[n.Arg]; m.To != rank {
			e.send(&transfer{from: rank, to: m.To, phase: none, step: n.Arg, bytes: n.Value})
			return
		}
		e.endNode(rank, node)
		e.deliver(n.Arg)
	case schedule.Receive:
		if r.delivered[n.Arg] {
			e.endNode(rank, node)
			return
		}
		r.posted[n.Arg] = true
	case schedule.Collect:
		e.join(n.Arg, rank, node)
	}
}

func processorOf(n *schedule.Node) uint32 {
	if n.CPU {
		return 1
	}
	return 0
}

// compute starts the first computation of the queue.
func (e *engine) compute(rank int32, which uint32) {
	p := &e.replay.ranks[rank].processors[which]
	p.busy, p.cause = true, e.causes.start()
	n := &e.replay.Ranks[rank].Nodes[p.queue[0]]
	e.queue.push(min(e.now+n.Value, never), computed, rank, which)
}

// computed ends a computation.
func (e *engine) computed(rank int32, which uint32) {
	p := &e.replay.ranks[rank].processors[which]
	node := p.queue[0]
	e.computationEnded(rank, node, p.cause, e.replay.Ranks[rank].Nodes[node].Value)
	p.cause = none
	if p.queue = p.queue[1:]; len(p.queue) == 0 {
		p.queue, p.busy = nil, false
	} else {
		e.compute(rank, which)
	}
	done := &e.ranks[rank].done
	done.Computations++
	done.ComputeTime += e.replay.Ranks[rank].Nodes[node].Value
	e.progress.Computations++
	if e.observe.Computation != nil {
		n := &e.replay.Ranks[rank].Nodes[node]
		e.fail(e.observe.Computation(&Computation{Rank: rank, Node: n.ID, Host: n.CPU, Start: e.now - n.Value, End: e.now}))
	}
	e.endNode(rank, node)
	e.advanceReplay()
}

// deliver records that a message is delivered, and ends its receive if it has started.
func (e *engine) deliver(message int32) {
	r := &e.replay
	r.delivered[message] = true
	if m := &r.Messages[message]; r.posted[message] {
		e.endNode(m.To, m.Receive)
	}
}

// arrived handles an acknowledged transfer of a schedule.
func (e *engine) arrived(t *transfer) {
	if t.phase == none {
		e.endNode(t.from, e.replay.Messages[t.step].Send)
		e.deliver(t.step)
	} else {
		e.partArrived(t)
	}
	e.advanceReplay()
}
