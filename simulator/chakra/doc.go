// Package chakra reads Chakra execution traces: what one rank of a workload
// computes, sends and receives, and in which order.
//
// A Reader streams one rank's file, the metadata first and then node by node:
//
//	r, err := chakra.NewReader(file, chakra.Limits{})
//	for {
//		node, err := r.Next()
//		if errors.Is(err, io.EOF) {
//			break
//		}
//		...
//	}
//
// It keeps one record in memory, whatever the file's size. Inspect reads every rank of
// a workload, sums up what each rank does, and reports what prevents a replay.
//
// A file has one of three forms, which the reader recognises by its bytes:
//
//   - the binary form: a varint length and a GlobalMetadata message, then for each node
//     a varint length and a Node message, to the end of the file
//   - the same messages as JSON objects, one after the other
//   - the older JSON form with a workload_graph
//
// Each may be compressed with gzip or zstd. Other known files, such as a profiler's
// trace, are refused with an error that says what they are.
//
// The binary and the JSON stream have no end mark: a file that was cut between
// two records reads as a shorter trace. A cut anywhere else is an error.
//
// Sources: completions.md 6.3, and the schema that Chakra publishes as
// et_def.proto.
package chakra
