// Package projector turns the log into the read model: it judges every record
// by the rule of docs/log.md, folds the facts into the write states and the
// projections, and commits both with its offsets in the log.
//
// # Shards
//
// Partition i of all families is shard i. Nothing in the read model is written for
// two shards, except sums, which are only added to. So processes project different
// shards at the same time. They share them by leases (package facts). A process
// projects all of its shards in one session: it has one set of caches, and one
// transaction at a time. When its leases change, it begins another session.
//
// # One transaction a batch
//
// A batch is what arrived while the batch before was committed. The projector judges
// and folds it in memory, and sends one pipelined batch of statements to
// PostgreSQL, which is one transaction:
//
//  1. the offsets move by compare-and-set; when one of them is not where this
//     projector expects it, or a shard's lease has another epoch, the statement
//     fails and the transaction rolls back
//  2. heads and write states of the streams that changed
//  3. the projections, each with a few set-based statements
//  4. command ids, rejected and parked records
//  5. the notification that carries the new offsets and the verdicts, if another
//     process listens; the callers in this process are woken after the commit
//
// A stream whose first record in a batch has sequence 1 is not looked for. It is
// inserted, so a stream that exists violates the primary key, and the batch is
// judged again with all streams loaded. The same happens when a verdict could
// depend on the guess.
//
// When a table gets many new rows, they are copied (COPY), right after the offsets.
//
// # The next batch beside the commit
//
// When half a batch or more arrives while one is committed, it is loaded, judged
// and folded beside the commit, on top of the heads and rows that the commit is
// about to write. These are in the caches: a cache has two generations and drops
// one at most once a batch, so whatever a batch has used is there until the end of
// the next. When the commit fails, both batches are taken back, the caches are
// dropped, and the first is applied by itself before the second is prepared again.
// One transaction runs at a time, and with little load nothing runs beside it,
// because one larger batch costs less than two.
//
// # Why it is safe
//
// Rows, heads and offsets commit together, so a projector that dies at any
// point resumes where the rows end: no record is applied twice or skipped. A
// projector that loses the compare-and-set (another holder of the shard, a
// suspended one that wakes up, one whose database was restored) drops its caches
// and reads its offsets again. A lease keeps two processes from doing the same
// work. Safety does not depend on it.
//
// A read model beside the live one has one projector: an advisory lock keeps
// others out.
//
// The rows are a function of the log alone, so a read model rebuilt from offset
// 0 holds the same bytes.
//
// # What cannot be applied
//
// An event whose type or body cannot be read, or whose rows PostgreSQL
// refuses, is parked: it stays a fact, the head moves past it, and neither it
// nor a later event of its stream is projected. A retry applies them all, or
// none. It runs at each start of the projector, and when an operator asks
// (RetryParked). Other streams are not affected. Commands to a parked stream are
// refused.
//
// # Forged records
//
// A record that is not sealed as its partition demands is forged (events/seal.go).
// What a partition demands follows from its own facts and is stored with its
// offset, in the same transaction. So a verdict depends neither on another
// partition nor on the batches.
//
// # Identity of the log
//
// The cluster, the topics' ids and partition counts, and the hash of the
// record before each offset are stored with the rows. When the log is not that
// log, or has lost its tail, the projector stops with an error; it does not mix
// two histories. Rebuild, Promote and an empty read model refuse such a log too,
// also by what a Witness has seen, until an operator has accepted the loss in
// the log itself (docs/audit.md).
//
// # Fingerprint of the read model
//
// The comment of the schema is a digest of the statements that made it. A
// release with other statements refuses the read model: another one is rebuilt
// beside it and promoted. Under Renew, which is for development, the live one
// is dropped and rebuilt. A change of a fold that leaves its table as it is
// needs a line "-- revision 2" in the projection's .sql file, which changes the
// digest.
//
// # Promotion
//
// A rebuild follows the log until it is promoted. Promote locks the live
// offsets, which blocks batches and no reader. It waits until the other read
// model has reached the live one and no transaction reads an older snapshot,
// and renames both in the same transaction. The compare-and-set names the table
// of the offsets by its oid, so a batch that was prepared for one read model
// fails on another. The lock ends with its session, so a crash blocks nothing
// (docs/adr/0018).
package projector
