// Package engine simulates collective workloads on a fabric at the level of
// flows: every transfer is a fluid that shares links max-min fairly, and time
// is whole picoseconds.
//
// The same input gives the same bytes on any machine: there is one goroutine,
// no floating point, no map, and events at one instant have a fixed order.
//
// What is modelled: packets' headers and acknowledgements as wire bytes,
// propagation, store-and-forward of one packet at every hop, and the
// acknowledgement's way back. A transfer counts as received, and releases what
// waits for it, when its sender holds the last acknowledgement; that is the
// convention of the packet-level reference (bench/reference). Packets
// that an overloaded stage trims (trim.go), and the queues where they are spread
// unevenly (spray.go). What is not: other queues,
// drops, time-outs, congestion control's ramp-up.
//
// Every switch has its own method. One that hashes gives a pair of NICs one
// link, and a flowlet switch another one when the pair was idle for its gap. One
// that sprays spreads over all links to the next tier, and what is spread stays
// so until it is back in one switch. Where both kinds meet on a stage, a hashed
// flow has no more than its link, and sprayed ones what hashed flows leave of
// the whole stage; trimming is left out there. A switch that forwards less than
// its ports bring it is shared by all that crosses it.
//
// A server with several NICs sends each transfer by all of them at once, in
// proportion to their rates: a flow each, in the NIC's own packets, from NIC i
// to the other server's NIC i modulo their number.
//
// Traffic of applications that are not coordinated comes from Poisson processes
// in integer arithmetic. Memory depends on the clients and on the messages on
// their way, not on how many there are.
//
// Sources: completions.md 4.4, 5.1, 5.3, 5.6; docs/engine.md.
package engine

import (
	"context"
	"fmt"
	"math"
	"slices"

	"netsim/simulator/collective"
	"netsim/simulator/program"
	"netsim/simulator/topology"
)

// Version names the model; results of one version are byte-identical.
const Version = "1.5.0"

// Routing says how flows use equal-cost paths.
type Routing uint8

const (
	// ECMP gives a pair of NICs one path, by a hash at every node.
	ECMP Routing = iota
	// Spray spreads the packets of every flow over all parallel links of a
	// stage, each as often as the others.
	Spray
	// Flowlet is ECMP that gives a pair another path when it was idle long
	// enough.
	Flowlet
)

// Hash names what a switch hashes with. Without a salt all switches that use
// the function make the same choice for a pair, so that tiers polarise.
type Hash uint8

// The hash functions; CRC32Salted is the default.
const (
	CRC32Salted Hash = iota
	CRC32
	PlainSalted
	Plain
)

// Switch is how the switches of a component work.
type Switch struct {
	Component string
	Routing   Routing
	Hash      Hash
	Gap       int64 // of Flowlet: the idle time after which a pair may move, ps
	// Capacity is what the switch forwards in all, in bit/s; 0, or more than
	// its ports bring it, is no bound.
	Capacity int64
}

// Options of a run. The zero value works.
type Options struct {
	Seed    uint64 // 0 means 1
	Routing Routing
	// Switches and NICs say how those of some components work. Other switches
	// follow Routing; other NICs the entry without a component, which stands
	// last, or else DefaultPacket.
	Switches []Switch
	NICs     []NIC

	// Analytical makes transfers independent of each other, to compare with
	// ASTRA-sim's congestion-unaware backend: a transfer takes
	// floor(hops·latency + bytes/rate) ns, plus 1, without headers,
	// acknowledgements or store-and-forward.
	Analytical bool

	// Start is the simulated picosecond at which ranks and clients begin.
	Start int64
	// Limit bounds simulated time, in picoseconds; 0 means no bound. A run
	// that reaches it is complete, with unfinished ranks.
	Limit int64
	// StopAfter stops the run after so many events, as the context can; 0 means
	// never. So a run that was stopped is repeated to the byte.
	StopAfter int64
	// StopReports has a run that StopAfter stops make so many reports first, of
	// both kinds, since they do not count as events.
	StopReports int64
	// WarmUp and CoolDown are of Traffic, in picoseconds: messages that start
	// in the first WarmUp are not shown to Observer.Transfer and do not count
	// in the latency, and none starts in the CoolDown before the limit.
	WarmUp, CoolDown int64
	// MaxFlows bounds the transfers in flight, and with them the memory, about
	// 300 bytes each; 0 means 4 million.
	MaxFlows int

	// Interval and Beacon are the simulated picoseconds between calls of
	// Observer.Links and Observer.Beacon; 0 means never.
	Interval, Beacon int64
	// MaxReports keeps long runs from drowning in them: after every so many
	// calls of Observer.Links or of Observer.Beacon its interval doubles; 0
	// means never.
	MaxReports int64
	// ProgressEvents is the number of events between calls of
	// Observer.Progress; 0 means 65,536.
	ProgressEvents int64
}

// Input is what is simulated: groups of ranks, traces, or applications that
// send messages on their own.
type Input struct {
	Fabric *topology.Fabric
	Groups []collective.GroupSpec // resolved, as collective.Resolve returns them
	// Synchronize has no rank of a group begin a phase before all of them have
	// ended the one before.
	Synchronize bool
	Replay      *Replay
	// Hosts says where the ranks of groups or traces are; rank i is on host i
	// when it is left out.
	Hosts   []int32
	ScaleUp *ScaleUp // of these ranks; nil for none
	Traffic []Traffic
	Options Options
}

// Replay is a workload of traces.
type Replay struct {
	Program *program.Program
	// Synchronize has no transfer of a collective start before all of its ranks
	// have come to it.
	Synchronize bool
	// Exclusive has the sends and collectives of a rank follow one another: when
	// one ends, the earliest of the trace begins that can; receives take no turn.
	Exclusive bool
}

// End says why a run ended.
type End uint8

const (
	// Finished: every rank ended.
	Finished End = iota
	// Limited: simulated time reached the limit.
	Limited
	// Stopped: the context was cancelled, or StopAfter and StopReports reached.
	Stopped
)

// Result is what a run came to. After Limited and Stopped it is the partial
// result up to that instant.
type Result struct {
	End End
	Progress
	Unfinished []int32 // ranks
	Limits     []Limit // what limited flows, and for how long
	Reports    int64   // that were due and made, for StopReports
}

// Progress is how far a run has come.
type Progress struct {
	Time        int64 // simulated picoseconds
	Events      int64
	Sends       int64 // transfers acknowledged
	SendsTotal  int64
	Bytes       int64 // payload of the acknowledged transfers
	BytesTotal  int64
	Packets     int64 // of the acknowledged transfers
	Measured    int64 // transfers that LatencySum has
	LatencySum  Sum   // of the acknowledged transfers' completion times
	Ranks       int   // finished
	RanksTotal  int
	Collectives int // finished

	CollectivesTotal  int
	Computations      int64 // over
	ComputationsTotal int64
	LastCollective    string // the last that finished, in words
}

// AvgLatency is the mean completion time of a transfer in picoseconds.
func (p *Progress) AvgLatency() int64 { return p.LatencySum.Mean(p.Measured) }

// Throughput is the delivered payload in bit/s of simulated time.
func (p *Progress) Throughput() int64 {
	if p.Time == 0 {
		return 0
	}
	return int64(mulDiv(uint64(p.Bytes)*8, picoseconds, uint64(p.Time)))
}

// Run simulates the input to its end, its limit or the cancellation of ctx,
// which is not an error. A workload without transfers ends when its computing
// does, at 0 without any. Run fails before it starts when a rank has no host or
// more than MaxFlows transfers would be in flight; and on the way when a pair of ranks has no path, when ranks wait and no event is
// left, naming the last finished collective, and with the observer's first
// error.
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
		o.MaxFlows = 4 << 20
	}
	if o.ProgressEvents == 0 {
		o.ProgressEvents = 1 << 16
	}
	o.MaxFlows = min(o.MaxFlows, math.MaxInt32>>hopBits)
	e := &engine{input: in, options: o, observe: observe, fabric: in.Fabric, trimming: !o.Analytical}
	e.addResources()
	if err := e.addGroups(in.Groups, in.Hosts); err != nil {
		return nil, err
	}
	if err := e.addProgram(in.Replay, in.Hosts); err != nil {
		return nil, err
	}
	if err := e.addScaleUp(in.ScaleUp); err != nil {
		return nil, err
	}
	e.idealize()
	if err := e.addTraffic(in.Traffic); err != nil {
		return nil, err
	}
	e.flowlets.allot(len(e.ranks))
	e.limits = make([]limiting, len(e.resources))
	return e, nil
}
