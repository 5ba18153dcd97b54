package engine

import "errors"

// cover is what a link report covers.
type cover struct {
	start         int64 // ps, of the current interval
	bits, packets []int64
}

// count adds an acknowledged transfer to the totals.
func (e *engine) count(f *transfer, from, to *Rank, packets int64) {
	p := &e.progress
	p.Sends++
	p.Bytes += f.bytes
	p.Packets += packets
	from.Sends++
	from.BytesSent += f.bytes
	to.Receives++
	to.BytesReceived += f.bytes
	offered := f.start - f.waited
	if offered < e.traffic.measured {
		return
	}
	p.Measured++
	p.LatencySum.Add(e.now - offered)
	if e.observe.Transfer != nil {
		e.reportTransfer(f, offered)
	}
}

func (e *engine) reportTransfer(f *transfer, offered int64) {
	step := int64(f.step)
	switch g := e.ranks[f.from].group; {
	case g != none:
		e.see(g, f.phase)
	case e.replay.Schedule == nil:
		e.seen.collective, step = e.application(f.phase), 0
	case f.phase != none:
		e.seen.collective = e.replayed(f.phase, e.replay.episodes[f.phase])
	default:
		e.seen.collective, step = message(f.bytes), e.replay.Messages[f.step].Tag
	}
	e.seen.transfer = Transfer{
		Collective: &e.seen.collective, From: f.from, To: f.to, Step: step,
		Bytes: f.bytes, Start: offered, Acked: e.now,
	}
	err := e.observe.Transfer(&e.seen.transfer)
	if errors.Is(err, ErrEnough) {
		e.observe.Transfer = nil
		return
	}
	e.fail(err)
}

// see makes a phase of a group the collective that the observer sees. Most transfers are of the
// same phase as the one before.
func (e *engine) see(id, index int32) {
	c, g := &e.seen.collective, &e.groups[id]
	at := index - g.base
	if !e.seen.known || c.Group != id || c.ID != g.firstID+int64(index) || int(at) >= len(g.open) || at < 0 {
		*c, e.seen.known = e.collective(id, index), true
		return
	}
	c.End, c.Start = e.now, g.open[at].start
	c.Finished = int(g.open[at].ended) == c.GroupSize
}

// collective describes a phase of a group in its current state.
func (e *engine) collective(id, index int32) Collective {
	g := &e.groups[id]
	plan := &g.plans[index]
	c := Collective{
		ID: g.firstID + int64(index), Group: id, GroupSize: plan.N,
		OperationType: plan.OperationType, Algorithm: plan.Algorithm, DataSize: plan.DataSize,
		End: e.now, Ideal: g.ideal[index], AlgorithmBytes: plan.AlgorithmBytes(),
	}
	c.BusNum, c.BusDen = plan.BusFactor()
	if i := int(index - g.base); i >= 0 && i < len(g.open) {
		c.Start = g.open[i].start
		c.Finished = int(g.open[i].ended) == plan.N
	}
	return c
}

func (e *engine) reportRank(id int32) {
	if e.observe.Rank == nil {
		return
	}
	r := &e.ranks[id]
	done := r.done
	if len(e.traffic.apps) == 0 {
		done.Time = e.now
	}
	done.Finished = r.finished
	e.fail(e.observe.Rank(&done))
}

// reportUnfinished reports the collectives that have begun and not ended.
func (e *engine) reportUnfinished() {
	if e.observe.Collective == nil {
		return
	}
	e.reportEpisodes()
	for id := range e.groups {
		g := &e.groups[id]
		for i, ph := range g.open {
			if !ph.begun || int(ph.ended) == g.plans[int(g.base)+i].N {
				continue
			}
			c := e.collective(int32(id), g.base+int32(i))
			e.fail(e.observe.Collective(&c))
		}
	}
}

// reportLinks ends the current interval of the link counters and reports it.
func (e *engine) reportLinks() {
	for id := range e.flows {
		f := &e.flows[id]
		if !f.attached || f.rate == 0 {
			continue
		}
		s := e.shape(f)
		bits := s.wire.bits
		if f.drain > e.now {
			bits -= f.left.after(f.rate, e.now-f.since).bits()
		}
		more := s.counted(bits).minus(s.counted(f.carried))
		for _, u := range e.path(int32(id)) {
			e.resources[u.resource].carried.add(more)
		}
		f.carried = bits
	}
	c := &e.cover
	if c.bits == nil {
		c.bits = make([]int64, 2*len(e.fabric.Links))
		c.packets = make([]int64, 2*len(e.fabric.Links))
	}
	e.spread()
	e.fail(e.observe.Links(&Links{Start: c.start, End: e.now, Bits: c.bits, Packets: c.packets}))
	c.start = e.now
}
