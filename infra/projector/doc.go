// Package projector turns the log into the read model: it judges every record
// by the rule, folds the facts into the write states and the projections, and
// commits both with its place in the log.
//
// # One transaction a batch
//
// The projector gathers what all partitions have, judges and folds it in
// memory, and sends one pipelined batch to PostgreSQL, which is one
// transaction:
//
//  1. the offsets move by compare-and-set from what was read to what comes
//     next; when one of them is not where this projector thinks, the statement
//     fails and nothing happens
//  2. heads and write states of the streams touched, command ids
//  3. the projections, each with a few set-based statements
//  4. rejected and parked records
//  5. the notification that carries the new offsets and the verdicts
//
// # Why it is safe
//
// Rows, heads and offsets commit together, so a projector that dies anywhere
// resumes where the rows end: nothing is applied twice and nothing is left
// out. Whoever loses the compare-and-set (a second projector, a zombie, a
// database restored under it) drops all that it has cached and reads its
// offsets again. An advisory lock keeps a second projector idle; it saves
// work, and nothing depends on it.
//
// Everything that is written is a function of the log alone, so a read model
// rebuilt from offset 0 holds the same bytes.
//
// # What cannot be applied
//
// An event whose type or body cannot be read, or whose rows PostgreSQL
// refuses, is parked: it stays a fact, the head moves past it, and neither it
// nor what follows it in its stream is projected until a retry applies them all:
// at each start of the projector, and when an operator asks (RetryParked). Other
// streams go on. Commands to a parked stream are refused.
//
// # Who wrote it
//
// A record that is not sealed as its partition demands is forged (events/seal.go).
// What a partition demands follows from its own facts and is kept beside its
// offset, in the same transaction, so a verdict never depends on another
// partition or on the batches.
//
// # Which log
//
// The cluster, the topics' ids and partition counts, and the hash of the
// record before each offset are stored with the rows. When the log at hand is
// not that log, or has lost its tail, the projector stops with an error rather
// than mix two histories. Rebuild, Promote and an empty read model refuse it too,
// also by what a Witness has seen, until an operator has accepted the loss in
// the log itself (docs/audit.md).
//
// # Which read model
//
// The schema bears, as its comment, a digest of the statements that made it. A
// release with others refuses it: it is rebuilt beside the live one, which
// goes on, and promoted. Under Renew, which is for development, the live one
// is dropped and rebuilt. A fold that changed while its table did not is
// announced by a line "-- revision 2" in the projection's .sql file, which
// changes the digest.
//
// # Promotion
//
// A rebuild follows the log until it is promoted. Promote locks the live
// offsets, which keeps every batch out and no reader, waits until the other
// read model has what the live one has and no older snapshot is read, and
// renames both in the same transaction. The compare-and-set names the table of
// the offsets by its oid: a batch that was prepared for one read model fails on
// another. The lock ends with its session, so nothing is stuck after a death
// (docs/adr/0018).
package projector
