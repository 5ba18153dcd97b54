// Package schedule defines the schedule that the engine executes to replay traces: the nodes
// of each rank with their dependencies, and the messages and collectives between ranks.
// Package replay builds a schedule from Chakra traces.
//
// A rank is stored in a few slices. A node takes about 40 bytes, a dependency 4.
package schedule

import "math"

// Op is what a node does.
type Op uint8

// The operations of nodes.
const (
	Pass    Op = iota // ends as soon as it starts
	Compute           // occupies the rank's processor for Value ps
	Send              // sends message Arg, of Value bytes
	Receive           // receives message Arg
	Collect           // takes the rank's part in collective Arg
)

// String names the operation in messages.
func (o Op) String() string {
	return [...]string{"pass", "compute", "send", "receive", "collective"}[o]
}

// Node is one operation of a rank.
type Node struct {
	ID    uint64 // as in the trace
	Value int64
	Arg   int32
	Waits int32 // number of nodes that must end before it starts
	Op    Op
	CPU   bool // a computation runs on the host's processor, not the accelerator
}

// Rank holds the nodes of one rank. A node comes after the nodes that it waits for.
type Rank struct {
	Nodes []Node

	First []int32 // by node: where its followers begin in Next; the last element is len(Next)
	Next  []int32
}

// Followers returns the nodes that wait for the node.
func (r *Rank) Followers(node int32) []int32 { return r.Next[r.First[node]:r.First[node+1]] }

// Message is a send and its receive.
type Message struct {
	From, To      int32 // ranks; a message from a rank to itself takes no time
	Send, Receive int32 // nodes of these ranks
	Tag           int64
}

// Group is a process group.
type Group struct {
	Name    string  // as in the trace; empty for the group of all ranks
	Members []int32 // ranks, ascending
}

// Place returns the index of the rank in Members.
func (g *Group) Place(rank int32) int32 {
	low, high := 0, len(g.Members)
	for low < high {
		if middle := (low + high) / 2; g.Members[middle] < rank {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return int32(low)
}

// Collective is one collective operation of a group.
type Collective struct {
	Group, Plan int32
}

// Schedule holds the nodes of all ranks of a workload. It does not change once built.
type Schedule struct {
	Ranks       []Rank
	Messages    []Message
	Groups      []Group
	Plans       []Plan // several collectives may share one
	Collectives []Collective

	Computations int64 // number of nodes that compute
}

// Transfers returns the number of transfers between ranks and their payload in bytes, at
// most 2^63-1.
func (p *Schedule) Transfers() (count, bytes int64) {
	for i := range p.Messages {
		if m := &p.Messages[i]; m.From != m.To {
			count++
			bytes = Sum(bytes, p.Ranks[m.From].Nodes[m.Send].Value)
		}
	}
	for _, c := range p.Collectives {
		count += p.Plans[c.Plan].Transfers()
		bytes = Sum(bytes, p.Plans[c.Plan].TotalBytes())
	}
	return count, bytes
}

// Sum returns a+b, or 2^63-1 if the sum is larger. Neither number may be negative.
func Sum(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
