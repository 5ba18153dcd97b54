package engine

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"netsim/simulator/splitmix"
	"netsim/simulator/topology"
)

// Pattern says which servers clients send to.
type Pattern uint8

// The patterns of traffic.
const (
	// UniformRandom: every message goes to any of the servers.
	UniformRandom Pattern = iota
	// Permutation: every client has one server. Servers are assigned in turn, in a
	// random order, but a client whose turn is itself gets the next server.
	Permutation
	// Incast: all clients send to one server.
	Incast
)

// Traffic is an uncoordinated application. Each client offers messages of one size as
// a Poisson process, independent of its earlier messages. A client has at most
// maxOutstanding messages in flight. Further messages wait, and the wait counts in
// their completion time.
type Traffic struct {
	Name             string
	Pattern          Pattern
	Clients, Servers []int32 // hosts, ascending; a host may be both
	MessageSize      int64   // bytes
	// Load is what a client offers on the wire, in billionths of its NICs' rate.
	Load int64
}

// maxOutstanding bounds the cost of overload, since a run costs as much as its
// messages in flight.
const maxOutstanding = 16

// wholeLoad is Load when a client offers all that its NICs can carry.
const wholeLoad = 1_000_000_000

// traffic is the state of a run's applications. The ranks are the hosts that take
// part, in the order of hosts.
type traffic struct {
	apps     []Traffic
	sources  []source
	end      int64 // ps, from which no message is offered
	measured int64 // ps, from which offered messages count in the latency
	over     bool  // the end is reached
}

// source is a client. Its next message is in the event queue, unless too many are in
// flight or the end comes first.
type source struct {
	app, rank int32
	gap       int64  // mean time between messages, ps
	random    uint64 // the state of its own random number generator
	to        int32  // its server, or none if each message picks one
	next      int64  // when its next message is offered, ps
	open      int32  // messages in flight
}

// Expected returns the expected number of messages of all clients in span
// picoseconds.
func (t *Traffic) Expected(f *topology.Fabric, o Options, span int64) int64 {
	o.NICs = append(slices.Clip(o.NICs), NIC{Packet: DefaultPacket()})
	e := &engine{options: o, fabric: f}
	var sum int64
	for _, host := range t.Clients {
		if gap := e.gap(t, host); gap < never {
			sum = min(sum+span/gap, never)
		}
	}
	return sum
}

// gap returns the mean time between two messages of a client, in ps.
func (e *engine) gap(t *Traffic, host int32) int64 {
	h := &e.fabric.Hosts[host]
	rate := uint64(e.fabric.Rate(host))
	var wire int64
	for nic, node := range h.NICs {
		part := mulDiv(uint64(t.MessageSize), uint64(e.fabric.Bundles[int(h.Bundle)+nic].Rate), rate)
		wire += e.options.NICs[e.form(node)].Packet.wire(int64(part)).bits
	}
	offered := mulDiv(rate, uint64(t.Load), wholeLoad)
	if offered == 0 {
		return never
	}
	return int64(min(max(mulDiv(uint64(wire), picoseconds, offered), 1), never))
}

// addTraffic prepares the clients. Each has its own random number generator, seeded
// by the run, the application and the client, so clients do not affect each other.
func (e *engine) addTraffic(apps []Traffic) error {
	if len(apps) == 0 {
		return nil
	}
	if len(e.ranks) > 0 {
		return fmt.Errorf("ranks and traffic cannot run together")
	}
	var hosts []int32
	for i := range apps {
		if t := &apps[i]; t.MessageSize < 1 {
			return fmt.Errorf("application %s: MessageSize must be at least 1, got %d", t.Name, t.MessageSize)
		}
		hosts = append(append(hosts, apps[i].Clients...), apps[i].Servers...)
	}
	slices.Sort(hosts)
	e.setHosts(slices.Compact(hosts))
	for i := range e.hosts {
		e.ranks = append(e.ranks, rank{group: none, route: route{to: none}, done: Rank{Rank: int32(i)}})
	}
	e.progress.RanksTotal = len(e.ranks)
	e.traffic = traffic{apps: apps, end: e.options.Limit - e.options.CoolDown, measured: e.options.Start + e.options.WarmUp}
	for i := range apps {
		e.addSources(int32(i))
	}
	return nil
}

func (e *engine) addSources(app int32) {
	t := &e.traffic.apps[app]
	seed := splitmix.Mix(e.options.Seed + uint64(app)*splitmix.Step)
	servers := slices.Clone(t.Servers)
	Shuffle(servers, seed)
	for i, host := range t.Clients {
		s := source{app: app, rank: e.rankOn(host), gap: e.gap(t, host), random: splitmix.Mix(seed ^ uint64(host)), to: none}
		switch t.Pattern {
		case Permutation:
			s.to = other(servers, i, host)
		case Incast:
			if s.to = servers[0]; s.to == host {
				continue
			}
		case UniformRandom:
			if len(servers) == 1 && servers[0] == host {
				continue // there is no other server
			}
		}
		if s.to != none {
			s.to = e.rankOn(s.to)
		}
		if s.gap < never && s.to != s.rank {
			e.traffic.sources = append(e.traffic.sources, s)
		}
	}
}

// other returns the server at an index, or the next one if that is the client itself.
func other(servers []int32, index int, client int32) int32 {
	n := len(servers)
	if s := servers[index%n]; s != client {
		return s
	}
	return servers[(index+1)%n]
}

func (e *engine) rankOn(host int32) int32 {
	at, _ := slices.BinarySearch(e.hosts, host)
	return int32(at)
}

// beginTraffic schedules every client's first message.
func (e *engine) beginTraffic() {
	if len(e.traffic.sources) == 0 {
		return
	}
	for i := range e.traffic.sources {
		s := &e.traffic.sources[i]
		s.next = e.now + s.pause()
		e.offer(int32(i))
	}
	e.queue.push(max(e.traffic.end, e.now), arrive, none, 0)
}

// offer schedules the client's next message, if it is before the end.
func (e *engine) offer(id int32) {
	s := &e.traffic.sources[id]
	if s.next < e.traffic.end && s.open < maxOutstanding {
		e.queue.push(max(s.next, e.now), arrive, id, 0)
	}
}

// arrive starts a client's message, or records that the time for messages is over.
func (e *engine) arrive(id int32) {
	if id == none {
		e.traffic.over = true
		e.closeWhenDelivered()
		return
	}
	s := &e.traffic.sources[id]
	t := &e.traffic.apps[s.app]
	to := s.to
	for to == none {
		if to = e.rankOn(t.Servers[s.below(len(t.Servers))]); to == s.rank {
			to = none
		}
	}
	e.progress.SendsTotal++
	e.progress.BytesTotal += t.MessageSize
	s.open++
	e.send(&transfer{from: s.rank, to: to, phase: s.app, step: id, bytes: t.MessageSize, waited: e.now - s.next})
	s.next = min(s.next+s.pause(), never)
	e.offer(id)
}

// delivered counts the end of a message.
func (e *engine) delivered(t *transfer) {
	s := &e.traffic.sources[t.step]
	if s.open--; s.open == maxOutstanding-1 {
		e.offer(t.step)
	}
	e.ranks[t.from].done.Time = e.now
	e.closeWhenDelivered()
}

func (e *engine) closeWhenDelivered() {
	if e.traffic.over && e.progress.Sends == e.progress.SendsTotal {
		e.closeTraffic()
	}
}

// closeTraffic finishes the ranks that have no message of their own in flight.
func (e *engine) closeTraffic() {
	if len(e.traffic.apps) == 0 {
		return
	}
	for i := range e.ranks {
		e.ranks[i].finished = true
	}
	for i := range e.traffic.sources {
		if s := &e.traffic.sources[i]; s.open > 0 {
			e.ranks[s.rank].finished = false
		}
	}
	for i := range e.ranks {
		if e.ranks[i].finished {
			e.progress.Ranks++
			e.reportRank(int32(i))
		}
	}
}

// application describes an application as the collective under which results list its
// messages.
func (e *engine) application(app int32) Collective {
	t := &e.traffic.apps[app]
	return Collective{ID: none, Group: none, GroupSize: len(e.hosts), OperationType: t.Name, DataSize: t.MessageSize}
}

func (s *source) draw() uint64 { return splitmix.Next(&s.random) }

// below draws a number from 0 to n-1.
func (s *source) below(n int) int { return splitmix.Below(s.draw(), n) }

// pause draws an exponentially distributed time with the source's mean, by von
// Neumann's method: from the lengths of falling runs of uniform numbers. It needs no
// logarithm, whose last bits could differ between machines.
func (s *source) pause() int64 {
	for whole := int64(0); ; whole++ {
		first := s.draw()
		last, run := first, 1
		for u := s.draw(); u < last; u = s.draw() {
			last = u
			run++
		}
		if run%2 == 1 {
			part, _ := bits.Mul64(first, uint64(s.gap))
			if whole > math.MaxInt64/2/s.gap {
				return never
			}
			return max(whole*s.gap+int64(part), 1)
		}
	}
}

// Shuffle orders the hosts at random; the order depends on the seed alone.
func Shuffle(hosts []int32, seed uint64) {
	s := source{random: seed}
	for i := len(hosts) - 1; i > 0; i-- {
		k := s.below(i + 1)
		hosts[i], hosts[k] = hosts[k], hosts[i]
	}
}
