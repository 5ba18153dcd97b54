// Package runs executes simulations: it stages the inputs, lets the built-in
// engine run, streams the result files to the object store while it does, and
// records what becomes of it by ordinary commands.
//
// # One run
//
//	provisioning ──stage──▶ StartRun ──▶ running ──engine──▶ results ──▶ final event
//
// The results are published before the final event, so whoever sees a
// simulation completed or failed finds its files listed. Terminating is the
// exception: there the API appends the final event, the worker notices it
// within a poll, stops the engine in order and publishes what there is.
//
// # Interrupted and repeated
//
// A worker may die anywhere and another begin anew. Each attempt writes under a
// prefix of its own, whose manifest is written last, so files of two attempts
// never mix; the engine is deterministic and wall-clock times in the files
// count from the recorded start, so both would have written the same bytes.
// Commands are decided on the simulation's own stream: of two final events the
// first is the one, starting twice is starting once, and progress never goes
// back. A run that was terminated while its worker was dead is repeated up to
// the recorded progress.
//
// What can pass (the database, the log or the object store do not answer) ends
// the attempt with an error, and the job is tried again. What cannot (inputs
// that do not fit together, a deadlock, no progress) fails the simulation, with
// its reason.
package runs
