// Package engine simulates collective workloads on a fabric at the level of
// flows: every transfer is a fluid that shares links max-min fairly, and time
// is whole picoseconds.
//
// The same input gives the same bytes on any machine: there is one goroutine,
// no floating point, no iteration over a map, and events at one instant have a fixed
// order.
//
// The model has the headers and acknowledgements of packets as wire bytes,
// propagation, store-and-forward of one packet at every switch, the way back of the
// last acknowledgement, packets that an overloaded stage trims if the NICs' transport does
// (trim.go), and queues that uneven spraying causes (spray.go). It has no other queues, no drops, no
// timeouts and no ramp-up of congestion control.
//
// A transfer counts as received when its sender has the last acknowledgement, as in
// the packet-level reference (prove/bench/reference).
//
// Every switch has its own routing. A hashing switch gives a pair of NICs one link; a
// flowlet switch may give the pair another link after the pair was idle for the switch's
// gap. A spraying switch spreads packets over all links to the next tier (a stage), and
// they stay spread until the links meet in one switch. If hashed and sprayed flows meet
// on a stage, a hashed flow gets at most the rate of its link, and sprayed flows share
// what hashed flows leave of the whole stage. If only some switches spray, trimming and
// uneven spraying are not modelled. All flows through a switch share its switching
// capacity if its ports can exceed it.
//
// A server with several NICs sends each transfer over all of them, in proportion to
// their rates: one flow for each NIC, with the NIC's packet sizes. NIC i sends to NIC
// i of the other server, modulo the number of its NICs.
//
// Traffic of uncoordinated applications comes from Poisson processes in integer
// arithmetic. Its memory depends on the clients and on the messages in flight, not
// on the number of messages.
//
// Sources: completions.md 4.4, 5.1, 5.3, 5.6; docs/engine.md.
package engine

import (
	"context"
	"fmt"
	"math"
	"slices"

	"netsim/simulator/collective"
	"netsim/simulator/schedule"
	"netsim/simulator/topology"
)

// Version names the model. One version gives byte-identical results for the same input.
const Version = "1.11.0"

// Routing says how flows use equal-cost paths.
type Routing uint8

const (
	// ECMP gives a pair of NICs one path, by a hash at every node.
	ECMP Routing = iota
	// Spray spreads the packets of every flow evenly over all parallel links of a
	// stage.
	Spray
	// Flowlet is ECMP, but a pair may get another path after it was idle for the gap.
	Flowlet
)

// Hash names the hash function of a switch. Without a salt all switches with the same
// function make the same choice for a pair, so tiers polarise.
type Hash uint8

// The hash functions; CRC32Salted is the default.
const (
	CRC32Salted Hash = iota
	CRC32
	PlainSalted
	Plain
)

// Transport says what NICs and switches do where more packets arrive than a link can send.
type Transport uint8

const (
	// Trimming: switches cut packets to headers, and receivers pull them again (NDP, Ultra
	// Ethernet).
	Trimming Transport = iota
	// Lossless: switches pause the ports that send to them (RoCE with PFC). Receivers take
	// packets in any order.
	Lossless
	// Ideal: a link is shared without loss, pauses or queues.
	Ideal
)

// String returns the transport's name, as clients see it.
func (t Transport) String() string { return [...]string{"trimming", "lossless", "ideal"}[t] }

// Switch is how the switches of a component work.
type Switch struct {
	Component string
	Routing   Routing
	Hash      Hash
	Gap       int64 // of Flowlet: the idle time after which a pair may move, ps
	// Capacity is what the switch forwards in total, in bit/s. 0 means no bound. What
	// its ports can receive, or more, is no bound either.
	Capacity int64
}

// Options of a run. The zero value works.
type Options struct {
	Seed      uint64 // 0 means 1
	Routing   Routing
	Transport Transport // of all NICs
	// Switches and NICs describe the switches and NICs of some components. Other
	// switches follow Routing. Other NICs follow the entry without a component, which
	// is the last one, or else DefaultPacket.
	Switches []Switch
	NICs     []NIC

	// Analytical makes transfers independent of each other, to compare with
	// ASTRA-sim's congestion-unaware backend: a transfer takes
	// floor(hops·latency + bytes/rate) ns, plus 1 unless it is a plain send of a trace,
	// without headers, acknowledgements or store-and-forward.
	Analytical bool

	// Start is the simulated picosecond at which ranks and clients begin.
	Start int64
	// Limit bounds simulated time, in picoseconds; 0 means no bound. A run that
	// reaches it ends without an error, with a partial result.
	Limit int64
	// StopAfter and StopReports stop the run, as the end of the context does, when it
	// has counted that many events and made that many reports of links and beacons.
	// With the Events and the Reports of a stopped run's Result they repeat it byte for
	// byte. 0 for both means never.
	StopAfter int64
	// StopReports is separate from StopAfter because reports do not count as events.
	StopReports int64
	// WarmUp and CoolDown apply to Traffic, in picoseconds. Messages that are offered in
	// the first WarmUp are not passed to Observer.Transfer and do not count in the
	// latency; no message is offered in the CoolDown before the limit.
	WarmUp, CoolDown int64
	// MaxFlows bounds the transfers in flight, and with them the memory, about
	// 250 bytes each; 0 means 16,777,216, an allToAll of 4,096 ranks at once.
	MaxFlows int

	// CriticalPath asks for Result.Path. It has no effect with Traffic, whose messages start
	// by themselves. It takes some 10 ns for each activity, and 10 MB or, if more
	// activities are in flight, some 80 bytes for each of these.
	CriticalPath bool

	// Interval and Beacon are the simulated picoseconds between calls of
	// Observer.Links and Observer.Beacon; 0 means never.
	Interval, Beacon int64
	// MaxReports bounds the reports of long runs: after every MaxReports calls of
	// Observer.Links or of Observer.Beacon its interval doubles; 0 means never.
	MaxReports int64
	// ProgressEvents is the most events between calls of Observer.Progress; 0 means
	// 65,536.
	ProgressEvents int64
}

// Input is what is simulated: groups of ranks, traces, or applications that
// send messages on their own.
type Input struct {
	Fabric *topology.Fabric
	Groups []collective.GroupSpec // resolved, as collective.Resolve returns them
	// Synchronize makes the ranks of a group begin a phase together, when all have
	// ended the phase before. Without it a rank begins when it is ready, and in a phase
	// its messages to one rank follow each other.
	Synchronize bool
	Replay      *Replay
	// Hosts are the hosts of the ranks of groups or traces; without it rank i is on
	// host i.
	Hosts   []int32
	ScaleUp *ScaleUp // scale-up groups of these ranks; nil for none
	Traffic []Traffic
	Options Options
}

// Replay is a workload of traces.
type Replay struct {
	Schedule *schedule.Schedule
	// Synchronize delays the transfers of a collective until all of its ranks have
	// reached it. Without it a rank sends when it has reached the collective, in which
	// its messages to one rank follow each other.
	Synchronize bool
	// Exclusive makes the sends and collectives of a rank run one at a time: when
	// one ends, the ready one that is earliest in the trace starts. It does not
	// affect receives.
	Exclusive bool
}

// End says why a run ended.
type End uint8

const (
	// Finished: every rank ended.
	Finished End = iota
	// Limited: simulated time reached the limit.
	Limited
	// Stopped: the context ended, or StopAfter and StopReports were reached.
	Stopped
)

// Result is the result of a run. It is partial after Limited and Stopped.
type Result struct {
	End End
	Progress
	Unfinished []int32 // ranks
	Limits     []Limit // what limited flows, and for how long
	Reports    int64   // periodic reports made, as StopReports counts them
	// Path is the critical path with Options.CriticalPath: the chain of activities, each
	// started by the end of the one before, that ends with the activity that ended last.
	Path []PathStep
}

// Progress is the progress of a run.
type Progress struct {
	Time        int64 // simulated picoseconds
	Events      int64
	Sends       int64 // transfers acknowledged
	SendsTotal  int64
	Bytes       int64 // payload of the acknowledged transfers
	BytesTotal  int64
	Packets     int64 // of the acknowledged transfers
	Measured    int64 // transfers in LatencySum
	LatencySum  Sum   // of completion times, without messages offered in the WarmUp
	Ranks       int   // finished
	RanksTotal  int
	Collectives int // finished

	CollectivesTotal  int
	Computations      int64 // finished
	ComputationsTotal int64
	LastCollective    string // names the last finished collective
}

// AvgLatency returns the mean completion time of a transfer in picoseconds.
func (p *Progress) AvgLatency() int64 { return p.LatencySum.Mean(p.Measured) }

// Throughput returns the delivered payload in bit/s of simulated time.
func (p *Progress) Throughput() int64 {
	if p.Time == 0 {
		return 0
	}
	return int64(mulDiv(uint64(p.Bytes)*8, picoseconds, uint64(p.Time)))
}

// Run simulates the input to its end, to its limit or until ctx ends, none of which
// is an error. A workload without transfers ends when its computations do.
//
// Run returns an error before the run if the input is invalid: for example, if a rank
// has no host, or groups would start more than MaxFlows transfers at once. Later it
// returns an error if more than MaxFlows transfers are in flight, if a pair of ranks has
// no path, if ranks wait and no event is left (the text names the last finished
// collective), or if the observer returns one.
func Run(ctx context.Context, in Input, observe Observer) (*Result, error) {
	e, err := newEngine(in, observe)
	if err != nil {
		return nil, err
	}
	e.open()
	end, err := e.run(ctx)
	if err != nil {
		return nil, err
	}
	return e.finish(end)
}

func newEngine(in Input, observe Observer) (*engine, error) {
	o := in.Options
	o.NICs = append(slices.Clip(o.NICs), NIC{Packet: DefaultPacket()})
	for _, n := range o.NICs {
		if err := n.Packet.check(); err != nil {
			return nil, fmt.Errorf("component %s: %w", n.Component, err)
		}
	}
	if o.Seed == 0 {
		o.Seed = 1
	}
	if o.Limit == 0 {
		o.Limit = math.MaxInt64
	}
	if o.MaxFlows == 0 {
		o.MaxFlows = 16 << 20
	}
	if o.ProgressEvents == 0 {
		o.ProgressEvents = 1 << 16
	}
	o.MaxFlows = min(o.MaxFlows, math.MaxInt32>>hopBits)
	e := &engine{input: in, options: o, observe: observe, fabric: in.Fabric}
	e.causes = causes{on: o.CriticalPath && in.Traffic == nil, every: manyCauses, keep: manyCauses, chain: 1, current: none}
	e.shapes.many = manyShapes
	e.ordered = in.orders()
	e.addResources()
	e.trimming = !o.Analytical && o.Transport == Trimming && e.spreading != mixed
	if err := e.addGroups(in.Groups, in.Hosts); err != nil {
		return nil, err
	}
	if err := e.addProgram(in.Replay, in.Hosts); err != nil {
		return nil, err
	}
	if err := e.addScaleUp(in.ScaleUp); err != nil {
		return nil, err
	}
	for i := range e.resources {
		r := &e.resources[i]
		r.flows = r.few[:0]
	}
	e.idealize()
	if err := e.addTraffic(in.Traffic); err != nil {
		return nil, err
	}
	e.flowlets.allocate(len(e.ranks))
	return e, nil
}
