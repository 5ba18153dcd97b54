// Package replay turns the Chakra traces of a workload into the schedule that the engine
// executes.
//
//	b := replay.New(ranks, replay.Options{})
//	for rank, trace := range traces {
//		err := b.Add(rank, trace) // a *chakra.Reader
//	}
//	p, err := b.Schedule()
//
// The builder sorts each rank's nodes so that every node follows the nodes that it waits
// for. It keeps the file's order if it can. In the sorted order, the k-th send from one rank
// to another with a tag belongs to the k-th receive of these ranks with this tag, and the
// members' k-th parts in collectives of a kind in a process group belong to one collective.
// A mismatch is an error that names the rank and the node. Doubtful content that can be
// replayed causes a warning. WriteTraces does the opposite for a workload of collectives.
//
// The builder drops most dependencies that other dependencies imply. Options.MaxBytes bounds
// the memory that the builder and the engine need for the schedule.
//
// Sources: completions.md 2.4 (chakra-workload-v1), 6.3; docs/engine.md.
package replay
