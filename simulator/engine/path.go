package engine

import (
	"fmt"

	"netsim/simulator/topology"
)

// route is what all transfers of one size from a rank to another have in common. Ranks
// mostly send to the same peer repeatedly, so each keeps its last route.
type route struct {
	to    int32
	shape int32
	limit int32 // the slowest resource
	hops  int32 // resources
	steps int32 // hops that forward packets; the others only bound the rate
	path  [maxPath]int32
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
	e.measure(r, bytes, e.form(e.host(from).NICs[nic]))
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

// measure computes the times of a transfer of bytes that is alone on its path.
func (e *engine) measure(r *route, bytes int64, form int32) {
	p := &e.options.NICs[form].Packet
	wire := p.wire(bytes)
	path := r.path[:r.hops]
	r.limit = path[0]
	for _, h := range path {
		if e.resources[h].rate < e.resources[r.limit].rate {
			r.limit = h
		}
	}
	rate := e.resources[r.limit].rate
	path = path[:r.steps]
	var delay int64
	for _, h := range path {
		delay += e.hoppings[h].delay
	}
	s := shape{bytes: bytes, form: form}
	if e.options.Analytical {
		wire.bits = 8 * bytes
		ns := (delay + int64(mulDiv(uint64(wire.bits), picoseconds, uint64(rate)))) / 1000
		s.wire, s.solo = wire, 1000*(ns+1)
		e.setShape(r, s)
		return
	}
	s.wire = wire
	s.solo = workOf(wire.bits).duration(rate)
	// The last packet is stored and forwarded at every hop but the first, where
	// sending it is part of draining the flow. Its acknowledgement comes back the
	// same way.
	last := workOf(8 * (min(bytes, p.MSS) + p.Header))
	ack := workOf(8 * p.Ack)
	s.trip = 2 * delay
	var hopRate, data, back int64 // of the previous hop
	for i, h := range path {
		if next := e.hoppings[h].rate; next != hopRate {
			hopRate, data, back = next, last.duration(next), ack.duration(next)
		}
		if i > 0 {
			s.trip += data
		}
		s.trip += back
	}
	e.setShape(r, s)
}

// setShape sets the shape of the route's transfers, which has the times and what is on the
// wire.
func (e *engine) setShape(r *route, s shape) {
	s.hops, s.steps = r.hops, r.steps
	r.shape = e.shapeOf(s, r.path[0])
}

// stripe is a transfer from a server with several NICs. Each of these NICs sends a part
// in proportion to its rate, as a flow of its own.
type stripe struct {
	open    int32 // flows in flight
	packets int64
	bytes   int64 // of the whole transfer
}

// sendStriped starts the flows of a transfer. NIC i sends to NIC i of the other server,
// modulo the number of its NICs.
func (e *engine) sendStriped(t *transfer) {
	if e.flowlets.entries != nil {
		e.turns, _ = e.flowlets.begin(t.from, t.to, e.now)
	}
	h := e.host(t.from)
	id := e.newStripe()
	e.stripes[id].bytes = t.bytes
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
