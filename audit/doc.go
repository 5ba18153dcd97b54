// Package audit proves the log and the costs to an auditor who does not trust the
// service. It computes everything itself, from the records of the log or from one
// file. Except for ReadKey it does no I/O of its own: the caller supplies a Reader, and
// Heads. It does not read through package facts, whose verdicts are those of the read
// model.
//
//   - A checkpoint is a signed note that says what the log held at one time.
//   - Verify judges every record and compares the result with every checkpoint
//     in the log. VerifyFrom joins at a checkpoint, with the heads that it signs.
//   - Replay rates every day again and compares the results with the costs in the
//     log and with the rows of a read model.
//   - A bundle is one file with an account's events, costs and proofs, which
//     can be verified without a network.
//
// docs/audit.md says what each of them proves, and what it does not.
package audit
