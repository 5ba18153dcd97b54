package engine

import "os"

var experiment = os.Getenv("EXP") != ""

// integrate returns the mean of the packets that a stage trims for each one that it carries.
func (e *engine) integrate(h int32, r *resource, g *stage, answered uint64, last bool) (t, cost uint64) {
	const steps = 40
	n := float64(g.sent.packets)
	packet := float64(g.sent.bits)/8/n - float64(g.acks)/n // bytes, without its acknowledgement
	header, ack := float64(g.headers)/n/packet, float64(g.acks)/n/packet
	back := float64(answered) / one
	perTrip := float64(r.rate) / 8 * float64(g.trip) / 1e12 / packet // packets that it carries in a round trip
	wire := float64(g.sent.bits) / 8 / n / packet
	rest := float64(g.whole) / 8 / packet / wire / perTrip // in round trips
	circling := float64(g.circling) / 8 / packet / wire / perTrip
	flying := float64(g.opens) / 8 / packet / wire / perTrip
	offered := float64(g.offered) / float64(r.rate)
	links := float64(e.linksOf(h))
	room := max(16.0/13, queuePackets*links/perTrip)

	loop := min(steps+int(4*8*packet/float64(e.hoppings[h].rate)/(float64(g.trip)/1e12)*steps+0.5), 3*steps)
	var pulled, nacked, feedback [3 * steps]float64
	var control, waiting, queue, resend, trimmed, delivered, over, pulls float64
	burst := min(flying, rest)
	if circling > 0 {
		age := float64(e.now-g.began) / float64(g.trip)
		queue = min(room, circling, max(offered-1, 0)*age)
		for i := range loop {
			pulled[i] = (circling - queue) / float64(loop)
		}
	}
	unsent := max(rest-burst-queue, 0)
	const dt = 1.0 / steps
	end := rest * 0.999
	for i := 0; delivered < end && i < 64*steps; i++ {
		at, half := i%loop, (i+loop/2)%loop
		hosts := max(offered*dt-feedback[at], 0) // their links carry control, too
		sent := min(burst, hosts)
		burst -= sent
		p := min(pulled[at], hosts-sent)
		waiting += pulled[at] - p
		if p < hosts-sent {
			q := min(waiting, hosts-sent-p)
			waiting -= q
			p += q
		}
		pulled[at] = 0
		resend += nacked[at]
		again := min(p, resend)
		resend -= again
		fresh := min(p-again, unsent)
		unsent -= fresh
		sent += again + fresh
		room1 := dt - feedback[at]*back - over
		control += feedback[at] * back
		feedback[at] = 0
		over = 0
		if room1 < 0 {
			over, room1 = -room1, 0
		}
		carried := min(queue+sent, room1)
		lost := max(queue+sent-carried-room, 0)
		if lost > 0 {
			carried = max((room1-(queue+sent-room)*header)/(1-header), 0)
			lost = queue + sent - carried - room
		}
		queue += sent - carried - lost
		trimmed += lost
		delivered += carried
		pulls += carried + lost
		out := min(pulls, 0.99*offered*dt)
		pulls -= out
		pulled[at] = out // arrives in a round trip
		nacked[at] = lost
		feedback[half] = ack * (carried + lost + max(out-carried, 0))
	}
	if os.Getenv("EXP") == "2" {
		println(h, int(rest*1000), int(flying*1000), int(offered*1000), int(room*1000), int(header*1e6), int(ack*1e6), int(back*1000), int(perTrip*1000), int(delivered*1000), int(trimmed/delivered*1000), int(g.trip))
	}
	if os.Getenv("EXP") == "2" {
		println(h, "rest", int(rest*1000), "fly", int(flying*1000), "circ", int(circling*1000), "off", int(offered*1000), "room", int(room*1000), "h", int(header*1e4), "back", int(back*1000), "perTrip", int(perTrip), "t", int(trimmed/delivered*1000), "n", int(n))
	}
	extra := max(control+trimmed*header-delivered*ack, 0) / max(delivered, 1e-9) / (1 + ack)
	return uint64(trimmed / max(delivered, 1e-9) * one), uint64(extra * one)
}
