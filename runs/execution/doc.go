// Package execution carries an order out: it checks that the inputs of a
// simulation fit together, lets the engine run on them, and writes the result
// files. It knows no database, no object store and no log of events: where the
// files of an order are to be had and where its results go is the caller's. So
// the service's worker, an engine on another machine and somebody with a receipt
// do the same and get the same bytes.
//
//	Order ──Prepare, Read──▶ Inputs ──Start, Run, Close──▶ result files
//
// An order says on what a run runs, whole: the configuration's text is in it,
// and every file by its hash. The receipt of a run is its order and what came
// of it.
//
// Errors about the inputs are faults: NotFound that something is missing, which
// may yet come, Unprocessable that they can never run; their text is the reason
// to show. Any other error is of where the files are, and may pass.
package execution
