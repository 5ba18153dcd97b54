// Package runs executes simulations: it stages the inputs, lets the built-in
// engine run, streams the result files to the object store while it does, and
// records what becomes of it by ordinary commands.
//
// # One run
//
//	provisioning ──stage──▶ StartSimulation ──▶ running ──engine──▶ results ──▶ final event
//
// The results are published before the final event, so whoever sees a
// simulation completed or failed finds its files listed. Terminating is the
// exception: there the API appends the final event, the worker notices it
// within a poll, stops the engine in order and publishes what there is.
//
// # Interrupted and repeated
//
// A worker may die anywhere and another begin anew. Each beginning writes under a
// prefix of its own, whose manifest is written last, so files of two attempts
// never mix; the engine is deterministic and wall-clock times in the files
// count from the recorded start, so both would have written the same bytes.
// Commands are decided on the simulation's own stream: of two final events the
// first is the one, starting twice is starting once, and progress never goes
// back. A run that was terminated while its worker was dead is repeated up to
// the recorded progress.
//
// # Checkpoints
//
// A simulation that asks for them has the state of its run stored at intervals
// of wall-clock time: checkpoints/<n>.state below the attempt's prefix, which is
//
//	where the result files stand: uploads, parts, what is not sent, hashes
//	where the records stand: rows, sums, shards
//	where the engine stands, between two events
//
// compressed, each part with a checksum and with what it is of. The event that
// names it is appended once its bytes are durable. A worker that takes over goes
// on from the newest: under the same prefix, with the same uploads, and every
// byte that follows is the one that the first worker would have written. So
// whichever of the two completes a file, it is the same file; what the first has
// completed since the checkpoint is the source of the parts that are missing.
// A checkpoint that is damaged, of another engine, or whose uploads the store
// has lost is passed over for the one before it, and that for the beginning,
// under a new prefix. The newest two are kept, and listed with the results.
//
// The log goes on behind its last line at the checkpoint; what the first worker
// logged after that is logged again.
//
// # What goes wrong
//
// A call that the object store fails is made again where it is, so that nothing
// is simulated twice: one that the store refuses (the key, the permission, the
// space) five times, one without a proper answer for Runner.Patience. Then the
// simulation fails with the reason, whether an input could not be read or a
// result file, a checkpoint or the manifest could not be stored.
//
// What else can pass (the database or the log do not answer) ends the attempt
// with an error, and the job is tried again, at most 50 times (package jobs).
// What cannot pass (inputs that do not fit together, a deadlock, no progress)
// fails the simulation, with its reason.
package runs
