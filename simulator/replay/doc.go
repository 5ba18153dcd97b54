// Package replay makes of the Chakra traces of a workload what the engine
// executes: a program.
//
//	b := replay.New(ranks, replay.Options{})
//	for rank, trace := range traces {
//		err := b.Add(rank, trace) // a *chakra.Reader
//	}
//	p, err := b.Program()
//
// Each rank's nodes are put into an order in which every node follows those
// that it waits for, the file's own where it is one. In that order the k-th
// send of a rank to another with a tag belongs to the k-th receive there, and
// the k-th collective of a kind in a process group is the same one on each of
// its members. What does not fit together is an error that names the rank and
// the node; what is only doubtful is a warning.
//
// Dependencies that others imply are left out. Options.MaxBytes bounds the
// memory of the program.
//
// Sources: completions.md 2.4 (chakra-workload-v1), 6.3; docs/engine.md.
package replay
