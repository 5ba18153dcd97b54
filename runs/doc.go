// Package runs executes simulations. It stages the inputs, runs the built-in
// engine or follows a remote one, streams the result files to the object store
// meanwhile, and records the outcome with ordinary commands.
//
// # One run
//
//	provisioning ──stage──▶ StartSimulation ──▶ running ──engine──▶ results ──▶ final event
//
// The results are published before the final event, so a client that sees a
// simulation completed or failed finds its files listed. Termination is the
// exception: the API appends the final event, the worker notices it within one
// poll, stops the engine in order and publishes the results so far.
//
// # Interrupted and repeated
//
// A worker may die at any moment, and another starts again. Each start writes under
// a prefix of its own and writes its manifest last, so files of two attempts never
// mix. The engine is deterministic and wall-clock times in the files count from the
// recorded start, so both attempts write the same bytes. Commands are decided on
// the simulation's own stream: the first of two final events counts, a second start
// changes nothing, and progress never decreases. A run that was terminated while
// its worker was dead is repeated up to the recorded progress.
//
// # Engine snapshots
//
// A simulation that asks for checkpointing has the state of its run stored at
// intervals of wall-clock time, as checkpoints/<n>.state below the attempt's
// prefix. A snapshot is compressed and has three sections, each with a checksum and
// the name of its content:
//
//	the result files: uploads, parts, unsent bytes, hashes
//	the records: rows, sums, shards
//	the engine, between two events
//
// The event that names a snapshot is appended once its bytes are durable. A worker
// that takes over resumes from the newest, under the same prefix and with the same
// uploads, and writes the bytes that the first worker would have written. So a file
// has the same content whichever of the two completes it. If the first worker
// completed a file after the snapshot, that file is the source of the parts that
// the upload lacks. A snapshot that is damaged, of another engine, or whose uploads
// the store has lost is skipped; the run resumes from the one before it, or starts
// at the beginning under a new prefix. The newest two are kept, and listed with the
// results.
//
// The run log continues after its last line at the snapshot; lines that the first
// worker logged after that are logged again.
//
// # What goes wrong
//
// A call to the object store that fails is repeated in place, so that nothing is
// simulated twice: five times if the store refuses it (the key, the permission, the
// space), for Runner.StoreTimeout if it does not answer properly. Then the simulation
// fails with the reason, whether an input could not be read or a result file, a
// snapshot or the manifest could not be stored.
//
// Other faults that pass (the database or the log does not answer) end the attempt
// with an error, and the job is tried again, at most JobAttempts times. A fault
// that cannot pass (inputs that do not fit together, a deadlock, no progress) fails
// the simulation, with its reason.
package runs
