// Package replay turns the Chakra traces of a workload into the program that the engine
// executes.
//
//	b := replay.New(ranks, replay.Options{})
//	for rank, trace := range traces {
//		err := b.Add(rank, trace) // a *chakra.Reader
//	}
//	p, err := b.Program()
//
// It sorts each rank's nodes so that every node follows those that it waits for, and keeps
// the file's order if that is one. In this order the k-th send of a rank to another with a
// tag belongs to the k-th receive there, and the k-th collective of a kind in a process
// group is the same on each member. A mismatch is an error that names the rank and the
// node; a doubt is a warning.
//
// Dependencies that others imply are dropped. Options.MaxBytes bounds the memory of the
// program.
//
// Sources: completions.md 2.4 (chakra-workload-v1), 6.3; docs/engine.md.
package replay
