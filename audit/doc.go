// Package audit proves the log and the books to an auditor who does not trust
// the service. It reads Kafka, or one file, and computes everything itself. It
// is pure: records come from the Reader of its caller.
//
//   - A checkpoint is a signed note that says what the log held at one time.
//   - Verify judges every record and compares the result with every checkpoint
//     in the log.
//   - Replay rates every day again and compares with the costs in the log and
//     with the rows of a read model.
//   - A bundle is one file with an account's events, costs and proofs, which
//     is verified without a network.
//
// docs/audit.md says what each of them proves, and what it does not.
package audit
