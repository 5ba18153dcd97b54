package engine

// cover is the state of the link reports.
type cover struct {
	start int64 // ps, of the running interval
	bits  []int64
}

// count adds an acknowledged transfer to the totals.
func (e *engine) count(f *transfer) {
	p := &e.progress
	p.Sends++
	p.Bytes += f.bytes
	p.Packets += packetsOf(f.bytes, e.options.Packet.MSS)
	p.LatencySum.add(e.now - f.start)
	from, to := &e.ranks[f.from].done, &e.ranks[f.to].done
	from.Sends++
	from.BytesSent += f.bytes
	to.Receives++
	to.BytesReceived += f.bytes
	if e.observe.Transfer != nil {
		c := e.collective(e.ranks[f.from].group, f.phase)
		e.fail(e.observe.Transfer(&Transfer{
			Collective: &c, From: f.from, To: f.to, Step: f.step,
			Bytes: f.bytes, Start: f.start, Acked: e.now,
		}))
	}
}

// collective describes a phase of a group as it stands.
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
	done.Time, done.Finished = e.now, r.finished
	e.fail(e.observe.Rank(&done))
}

// reportUnfinished reports the collectives that were begun and are not ended.
func (e *engine) reportUnfinished() {
	if e.observe.Collective == nil {
		return
	}
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

// reportLinks closes the running interval of the link counters.
func (e *engine) reportLinks() {
	for id := range e.flows {
		f := &e.flows[id]
		if !f.attached {
			continue
		}
		carried := f.wire
		if f.rate == 0 {
			carried = f.carried
		} else if f.drain > e.now {
			carried -= f.left.after(f.rate, e.now-f.since).bits()
		}
		for _, h := range f.path[:f.hops] {
			e.resources[h].carried += carried - f.carried
		}
		f.carried = carried
	}
	c := &e.cover
	if c.bits == nil {
		c.bits = make([]int64, 2*len(e.fabric.Links))
	}
	for h := range e.resources {
		r := &e.resources[h]
		e.spread(h, r.carried)
		r.carried = 0
	}
	e.fail(e.observe.Links(&Links{Start: c.start, End: e.now, Bits: c.bits}))
	c.start = e.now
}

// spread gives a resource's bits to its links: all to one link, those of a
// bundle by rate, so that they add up.
func (e *engine) spread(h int, bits int64) {
	if e.options.Routing == ECMP {
		e.cover.bits[h] = bits
		return
	}
	bundle := &e.fabric.Bundles[h/2]
	left, rate := bits, bundle.Rate
	for _, l := range bundle.Links {
		own := e.fabric.Links[l].Rate
		part := int64(mulDiv(uint64(left), uint64(own), uint64(rate)))
		e.cover.bits[2*int(l)+h%2] = part
		left -= part
		rate -= own
	}
}
