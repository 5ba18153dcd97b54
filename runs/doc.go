// Package runs executes simulations. It stages the inputs, runs the built-in
// engine or follows a remote one, streams the result files to the object store,
// and records the outcome with ordinary commands.
//
// # One run
//
//	provisioning ──stage──▶ StartSimulation ──▶ running ──engine──▶ results ──▶ final event
//
// The results are published before the final event, so a client that sees a
// completed or failed simulation finds its files. An attempt that recorded the start itself
// appends both at once (ADR 78). Files are written only after the start, so no earlier attempt
// has left any. Every other attempt removes the files of earlier ones in between, so that
// none stay if it dies after the end. Termination is the exception:
// the API appends the final event, and the worker notices it within one poll, stops
// the engine between two events and publishes the results so far.
//
// # Interrupted and repeated
//
// A worker may die at any moment, and another worker starts the run again. Each
// attempt from the beginning writes under a prefix of its own, so files of two attempts never
// mix, and the event that names its manifest follows when all its files are stored. The files
// that are closed after the engine's end are stored at the same time. The engine is deterministic, and wall-clock times in
// the files count from the recorded start, so both attempts write the same bytes.
// Commands are decided on the simulation's own stream: the first of two final
// events counts, a second start changes nothing, and progress never decreases. A
// run that was terminated while it had no worker is repeated up to the recorded
// progress.
//
// # Engine snapshots
//
// If a simulation asks for checkpointing, the worker stores the state of its run at
// intervals of wall-clock time, as checkpoints/<n>.state below the attempt's
// prefix. A snapshot is compressed and has four sections, each with a checksum and
// the name of its content:
//
//	the result files: uploads, parts, unsent bytes, hashes
//	the progress of the run
//	the records: rows, sums, shards
//	the engine, between two events
//
// The event that names a snapshot is appended once its bytes are durable. The next
// worker resumes from the newest snapshot, under the same prefix and with the same
// uploads, and writes the bytes that the first worker would have written. A file
// therefore has the same content whichever worker completes it. If the first worker
// completed a file after the snapshot, that file is the source of the parts that
// the upload lacks. A snapshot is skipped if it is damaged, of another engine version
// or of other inputs, or if the store has lost its uploads. The run then resumes from the snapshot before
// it, or starts at the beginning under a new prefix. The newest two snapshots are
// kept, and listed with the results.
//
// The run log continues after its last line at the snapshot. Later lines of the
// first worker are removed and logged again.
//
// # Yields
//
// A run that has had its worker for a while yields it to a waiting run of another
// account, or of no study if it is of one (Runner.Yield decides). It stores a snapshot,
// records SimulationYielded and ends with ErrYielded; the next worker resumes from the
// snapshot and records SimulationResumed. If the worker dies in between, the run resumes
// from its last snapshot, or starts at the beginning. If the run has not asked for
// snapshots, they are removed at its end.
//
// # Failures
//
// A failed call to the object store is repeated while the run waits, so that nothing
// is simulated twice. A call is made five times if the store refuses it (access is
// denied, the disk is full), and repeated for Runner.StoreTimeout if the store does
// not answer properly. After that the simulation fails with the reason.
//
// Other transient faults (the database or the event log does not answer) end the
// attempt with an error, and the job is tried again, at most JobAttempts times in all. A
// permanent fault (inputs that do not fit together, a deadlock, no progress) fails
// the simulation with its reason.
package runs
