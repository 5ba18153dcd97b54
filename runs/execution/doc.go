// Package execution executes an order: it checks that the inputs of a simulation
// fit together, runs the engine on them, and writes the result files. It knows no
// database, no object store and no event log: the caller opens the files of an
// order and takes the results. So the service's worker, an engine on another
// machine and a reader with a receipt do the same and get the same bytes.
//
//	Order ──Prepare, Read──▶ Inputs ──Start, Run, Close──▶ result files
//
// An order names all inputs of a run: it contains the configuration's text, and
// every file by its hash. The receipt of a run is its order and its outcome.
//
// Errors about the inputs are faults: NotFound if an input is missing and may still
// arrive, Unprocessable if they can never run. Their text is the reason that
// clients see. Any other error comes from where the files are, and may pass.
package execution
