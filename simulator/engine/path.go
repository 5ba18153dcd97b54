package engine

import (
	"fmt"

	"netsim/simulator/topology"
)

// route is what all transfers of one size from a rank to another have in common. Ranks
// mostly send to the same peer repeatedly, so each keeps its last route.
type route struct {
	to    int32
	hops  int32 // resources
	steps int32 // hops that forward packets; the others only bound the rate
	path  [maxPath]int32
	bytes int64
	form  int32 // index of the packet sizes in Options.NICs
	wire  load
	work  work  // bits to send
	tail  int64 // ps from the last bit sent to the last acknowledgement
	rate  int64 // bit/s of the slowest resource
	limit int32 // the slowest resource
	solo  int64 // ps to drain at this rate
}

func (e *engine) host(rank int32) *topology.Host { return &e.fabric.Hosts[e.hosts[rank]] }

// find fills in the route from one of the rank's NICs. It returns false if there is
// none.
func (e *engine) find(r *route, from, to int32, bytes int64, nic int) bool {
	if r.to != to {
		e.findPath(r, topology.Pair{
			Src: e.hosts[from], Dst: e.hosts[to], SrcNIC: int32(nic), DstNIC: int32(nic % len(e.host(to).NICs)),
			Turns: e.turns,
		})
		if r.hops == 0 {
			e.fail(fmt.Errorf("no path from rank %d to rank %d", from, to))
			return false
		}
		r.to = to
	}
	r.bytes = bytes
	e.measure(r, e.form(e.host(from).NICs[nic]))
	return true
}

// findPath finds the hops of the path and the other capacities that it shares.
func (e *engine) findPath(r *route, p topology.Pair) {
	path := r.path[:0]
	var bounds [topology.MaxHops]int32
	also := bounds[:0]
	switch e.spreading {
	case sprayed:
		path = e.routes.Spray(path, &p)
	case hashed:
		path = e.routes.ECMP(path, &p)
	case mixed:
		path, also = e.routes.Mixed(path, also, &p)
	}
	r.steps = int32(len(path))
	path = append(path, also...)
	if e.capacities != nil {
		for _, h := range path[:r.steps] {
			if c := e.capacities[e.entered(h)]; c != none {
				path = append(path, c)
			}
		}
	}
	r.hops = int32(len(path))
}

// measure computes the times of a transfer that is alone on its path.
func (e *engine) measure(r *route, form int32) {
	p := &e.options.NICs[form].Packet
	r.form = form
	r.wire = p.wire(r.bytes)
	path := r.path[:r.hops]
	r.rate, r.limit = e.resources[path[0]].rate, path[0]
	for _, h := range path {
		if rate := e.resources[h].rate; rate < r.rate {
			r.rate, r.limit = rate, h
		}
	}
	path = path[:r.steps]
	var delay int64
	for _, h := range path {
		delay += e.resources[h].delay
	}
	if e.options.Analytical {
		r.wire.bits = 8 * r.bytes
		ns := (delay + int64(mulDiv(uint64(r.wire.bits), picoseconds, uint64(r.rate)))) / 1000
		r.work, r.solo, r.tail = work{}, 1000*(ns+1), 0
		return
	}
	r.work = workOf(r.wire.bits)
	r.solo = r.work.duration(r.rate)
	// The last packet is stored and forwarded at every hop but the first, where
	// sending it is part of draining the flow. Its acknowledgement comes back the
	// same way.
	last := workOf(8 * (min(r.bytes, p.MSS) + p.Header))
	ack := workOf(8 * p.Ack)
	r.tail = 2 * delay
	var rate, data, back int64 // of the previous hop
	for i, h := range path {
		if next := e.resources[h].hopRate; next != rate {
			rate, data, back = next, last.duration(next), ack.duration(next)
		}
		if i > 0 {
			r.tail += data
		}
		r.tail += back
	}
}

// stripe is a transfer from a server with several NICs. Each of these NICs sends a part
// in proportion to its rate, as a flow of its own.
type stripe struct {
	open    int32 // flows in flight
	packets int64
}

// sendStriped starts the flows of a transfer. NIC i sends to NIC i of the other server,
// modulo the number of its NICs.
func (e *engine) sendStriped(t transfer) {
	if e.flowlets.entries != nil {
		e.turns, _ = e.flowlets.begin(t.from, t.to, e.now)
	}
	h := e.host(t.from)
	id := e.newStripe()
	total := uint64(e.fabric.Rate(e.hosts[t.from]))
	var rate uint64 // sum over the NICs so far
	var sent int64
	for nic := range h.NICs {
		rate += uint64(e.fabric.Bundles[int(h.Bundle)+nic].Rate)
		part := int64(mulDiv(uint64(t.bytes), rate, total)) - sent
		if part == 0 {
			continue
		}
		sent += part
		r := route{to: none}
		if !e.find(&r, t.from, t.to, part, nic) {
			return
		}
		e.stripes[id].open++
		e.launch(&r, t, id)
	}
}

func (e *engine) newStripe() int32 {
	if n := len(e.freeStripes); n > 0 {
		id := e.freeStripes[n-1]
		e.freeStripes = e.freeStripes[:n-1]
		e.stripes[id] = stripe{}
		return id
	}
	if len(e.stripes) == 0 {
		e.stripes = append(e.stripes, stripe{}) // 0 is none
	}
	e.stripes = append(e.stripes, stripe{})
	return int32(len(e.stripes) - 1)
}

// gather records the end of one flow of a striped transfer. After the last flow it
// returns the packets of all flows.
func (e *engine) gather(id int32, packets int64) (sum int64, all bool) {
	s := &e.stripes[id]
	s.open--
	s.packets += packets
	if s.open > 0 {
		return 0, false
	}
	e.freeStripes = append(e.freeStripes, id)
	return s.packets, true
}
