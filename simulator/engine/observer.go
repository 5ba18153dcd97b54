package engine

import (
	"errors"
	"io"
)

// Observer has the functions that a run calls; nil ones are not called. The run reuses
// the structs that it passes, so a function copies what it needs later. An error from
// a function ends the run, but see ErrEnough.
type Observer struct {
	Transfer    func(*Transfer) error    // for each acknowledged transfer, but see Options.WarmUp
	Collective  func(*Collective) error  // for each finished collective, and at the end for unfinished ones
	Computation func(*Computation) error // for each finished computation of a trace
	Rank        func(*Rank) error        // for each finished rank, and at the end for unfinished ones
	Links       func(*Links) error       // every Options.Interval and at the end
	Beacon      func(*Progress) error    // every Options.Beacon and at the end
	Progress    func(*Progress) error    // every Options.ProgressEvents, after each call of Links, and at the end
	// Snapshot is called after Progress, except at the end. Before it returns it may call
	// save, which writes the state from which Resume continues.
	Snapshot func(save func(io.Writer) error) error
}

// ErrEnough is what Observer.Transfer returns to be called no more in this run, which continues.
// A resumed run calls it again.
var ErrEnough = errors.New("no more transfers are needed")

// Transfer is one acknowledged transfer. Times are simulated picoseconds.
type Transfer struct {
	Collective *Collective
	From, To   int32 // ranks
	Step       int64 // of the collective, or the tag of a plain send
	Bytes      int64 // payload
	Start      int64 // a message of Traffic: when it was offered
	Acked      int64
}

// Collective is one collective operation: a phase of a group, or one in the traces. Plain
// sends and messages of Traffic have a stand-in with the ID -1.
type Collective struct {
	ID            int64
	Group         int32
	GroupName     string // of the process group; empty for other groups
	GroupSize     int
	OperationType string
	Algorithm     string
	DataSize      int64 // bytes
	Start         int64 // the latest of the ranks' first sends, ps
	End           int64 // ps
	Ideal         int64 // closed form at the NICs' rate, without latency, ps
	Finished      bool
	// AlgorithmBytes/(End-Start) is the algorithm bandwidth. That times BusNum/BusDen
	// is the bus bandwidth.
	AlgorithmBytes, BusNum, BusDen int64
}

// Computation is a finished computation of a trace. Times are simulated picoseconds.
type Computation struct {
	Rank       int32
	Node       uint64 // as in the trace
	Host       bool   // it ran on the host's processor, not the accelerator
	Start, End int64
}

// Rank is what one rank did.
type Rank struct {
	Rank          int32
	Finished      bool
	Time          int64 // when the rank finished or the run ended; with Traffic, its last acknowledgement; ps
	BytesSent     int64 // acknowledged payload
	BytesReceived int64
	Sends         int64 // acknowledged
	Receives      int64
	Computations  int64
	ComputeTime   int64 // ps, of all computations
}

// Links is what every topology.Link carried from Start to End: upwards at index
// 2·id, downwards at 2·id+1. Bits are wire bits, with headers and one
// acknowledgement for each packet. A packet counts in the interval of its last bit.
type Links struct {
	Start, End    int64
	Bits, Packets []int64
}
