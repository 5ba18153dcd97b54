// Package program has the form in which the engine executes traces: the nodes of each rank
// with their followers, and the messages and collectives between ranks. Package replay
// makes one from Chakra traces.
//
// A node needs some 40 bytes and a dependency 4, in a few slices for each rank.
package program

import "math"

// Op is what a node does.
type Op uint8

// What nodes do.
const (
	Pass    Op = iota // nothing, at once
	Compute           // take the rank's processor for Value ps
	Send              // message Arg, of Value bytes
	Receive           // message Arg
	Collect           // the rank's part in collective Arg
)

// String names the operation in messages.
func (o Op) String() string {
	return [...]string{"pass", "compute", "send", "receive", "collective"}[o]
}

// Node is one operation of a rank.
type Node struct {
	ID    uint64 // the trace's
	Value int64
	Arg   int32
	Waits int32 // nodes that must be over before it starts
	Op    Op
	CPU   bool // of a computation: on the host's processor, not the accelerator
}

// Rank is what one rank does. Every node follows those that it waits for.
type Rank struct {
	Nodes []Node

	First []int32 // by node, and one more: where its followers begin in Next
	Next  []int32
}

// Followers returns the nodes that wait for the node.
func (r *Rank) Followers(node int32) []int32 { return r.Next[r.First[node]:r.First[node+1]] }

// Message is a send and its receive.
type Message struct {
	From, To      int32 // ranks; the same one's message takes no time
	Send, Receive int32 // their nodes
	Tag           int64
}

// Group is a process group.
type Group struct {
	Name    string  // the trace's; empty for all ranks
	Members []int32 // ranks, ascending
}

// Place returns the rank's number inside the group.
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

// Program is the nodes of all ranks of a workload. It does not change once made.
type Program struct {
	Ranks       []Rank
	Messages    []Message
	Groups      []Group
	Plans       []Plan // what several collectives have in common
	Collectives []Collective

	Computations int64
}

// Transfers returns the number of transfers between ranks and their payload in bytes, at
// most 2^63-1.
func (p *Program) Transfers() (count, bytes int64) {
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

// Sum returns a+b of two numbers that are not negative, at most 2^63-1.
func Sum(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
