// Package execution executes an order: it checks that the inputs of a simulation
// fit together, runs the engine on them, and writes the result files. It uses no
// database, object store or event log: the caller opens the files of an order and
// takes the results. The service's worker, an engine on another machine and a user
// with a receipt therefore get the same bytes.
//
//	Order ──Prepare, Read──▶ Inputs ──Start, Run, Close──▶ result files
//
// An order names all inputs of a run: it contains the text of the configuration,
// and the hash of every file. The receipt of a run has its order and its outcome.
//
// Errors about the inputs are faults: NotFound if an input is missing and may still
// arrive, Unprocessable if the inputs can never run. Their text is the reason that
// clients see. Any other error comes from the source of the files, and may be
// transient.
package execution
