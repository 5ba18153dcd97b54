// Package projector turns the log into the read model: it judges every record
// by the rule of docs/log.md, folds the facts into the write states and the
// projections, and commits both with its offsets in the log.
//
// # Shards
//
// Partition i of all families is shard i. No row of the read model is written for
// two shards, except sums, which are only added to. So several processes can project
// at the same time, each its own shards. They share the shards by leases (package
// facts). A process projects all of its shards in one session, with one set of
// caches and one transaction at a time. When its leases change, it begins another
// session.
//
// # One transaction a batch
//
// A batch is what arrived while the previous one was committed. The projector judges
// and folds it in memory, and sends its statements to PostgreSQL in one pipeline,
// which is one transaction:
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
// A stream that is not cached, and whose first record in a batch has sequence 1, is
// taken to be new: it is inserted without a look-up. If it exists, the insert violates
// the primary key, and the batch is judged again with all streams loaded. The same
// happens when a record of such a stream is rejected before the stream has a fact.
//
// When a table gets many new rows, they are copied (COPY), right after the offsets
// have moved.
//
// # The next batch beside the commit
//
// When half a batch or more arrives while one is committed, it is loaded, judged
// and folded beside the commit, on top of the heads and rows that the commit is
// about to write. These are in the caches: a cache has two generations and drops
// one at most once a batch, so whatever a batch has used is there until the end of
// the next. When the commit fails, both batches are undone, the caches are dropped,
// and the first is applied by itself before the second is prepared again. One
// transaction runs at a time. A smaller batch is not prepared beside it, because one
// larger batch costs less than two.
//
// # Why it is safe
//
// Rows, heads and offsets commit together, so a projector that dies at any
// point resumes where the rows end: no record is applied twice or skipped. A
// projector fails the compare-and-set after another process has taken its shard,
// perhaps while it was suspended, or after the database was restored. It then drops
// its caches and reads its offsets again. A lease keeps two processes from doing the
// same work. Safety does not depend on it.
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
// nor a later event of its stream is projected. A retry applies all parked events of
// a stream, or none. It runs at the start of each session and when an operator asks
// for it (RetryParked). Other streams are not affected. Commands to a parked stream
// are refused.
//
// # Forged records
//
// A record that is not sealed as its partition demands is forged (events/seal.go).
// What a partition demands follows from its own facts and is stored with its
// offset, in the same transaction. So a verdict depends neither on another
// partition nor on how the records were batched.
//
// # Identity of the log
//
// The cluster, the topics' ids and partition counts, and the hash of the
// record before each offset are stored with the rows. When the log is not that
// log, or has lost its tail, the projector stops with an error; it does not mix
// two histories. Rebuild, Promote and an empty read model that adopts the log refuse
// such a log too. They also compare it with what a Witness has seen. They proceed
// once the log itself records that an operator has accepted the loss
// (docs/audit.md).
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
// offsets, which blocks batches but no reader. It waits until the other read
// model has reached the live one and no transaction reads an older snapshot,
// and renames both in one transaction. The compare-and-set names the table
// of the offsets by its oid, so a batch that was prepared for one read model
// fails on another. The lock ends with its session, so a crash blocks nothing
// (docs/adr/0018).
//
// # Superseded read models
//
// A promotion moves the live read model to the schema NameOf its fingerprint, unless the
// promoted one has the same. The sessions of a process look for tables there first, and then
// in the live schema. So at the commit of a promotion, the processes of the old release
// resolve to the same tables as before. They serve and project a superseded read model now,
// beside processes of the live one (docs/adr/0046).
//
// A write that any of them has acknowledged is visible through each of them, and no client
// sees a row and later, through another process, misses it, because
//
//   - a process of a superseded read model waits, before it answers a request, until it has
//     reached what the live one had when the request began
//   - it acknowledges and shows only what the live one has reached too: Watcher.Next and
//     verdicts are the minimum of both
//
// That holds if a process knows that it is superseded. Let a promotion commit at a time r.
//
//   - A batch that its projector commits after r belongs to a session that knows, because
//     moveOffsets names the schema. Its notices are marked, and a watcher that does not know
//     yet polls instead of applying them. A poll reads the offsets before it asks which read
//     model is live. So without knowing, a process acknowledges nothing that was judged
//     after r.
//   - A request begins as if nothing had happened only if a poll was sent less than knownFor
//     ago that found the own read model live; that is, before r + knownFor. The processes of
//     the promoted read model serve after r + Turnover, so they have acknowledged nothing
//     that the request could miss.
//
// A process whose own read model is promoted while it runs follows the one that was live for
// Turnover more, for the processes of that one.
//
// # A crash of PostgreSQL
//
// The read model is committed with synchronous_commit=off. After a crash, or a
// failover to an asynchronous standby, PostgreSQL lacks its last commits until
// the projector has applied them again. No read may show that. Recovery verifies
// each session when it is opened, so a read needs no check of its own.
//
// A run of PostgreSQL is the time between two starts of its shared memory. Within
// a run nothing that is committed disappears. A session belongs to one run and ends
// with it at the latest. Let a session of run R be verified, and let a read on it
// begin after a write was acknowledged:
//
//   - If the write was committed in R, the read sees it.
//   - If it was committed in an earlier run, its record was in the log before R
//     began. The first session of R was verified against an end of the log that was
//     read after that session had been opened. The record is before this end, which
//     the read model had reached in R, so the read sees the write.
//
// The same holds for rows that an earlier read saw. It holds for every process,
// because the table recovered has the run in which a session was verified: the
// start time of the server, in an unlogged table. The time differs after a restart
// and on another server; the table is empty after a crash, also after one that the
// server itself recovers from, and on a standby that was promoted. A session that
// does not find its run there waits. All processes together describe the log once a
// run.
//
// The table speaks of the live read model. A session that serves a superseded one waits, when
// it is opened, until that has reached the live one too.
//
// The projector, the Watcher and the checks of the read model use sessions that
// are not verified, because the others wait for them. A verdict in the table
// counts only while the offsets are beyond its record (readVerdict).
//
// A connection must stay on one session of PostgreSQL: a proxy that moves it to
// another server, such as a transaction pooler, breaks the argument, and so do two
// primaries. Promote ends no run and loses nothing. The argument does not cover a
// read model that an operator drops or replaces within a run: every Watcher polls for
// that (Behind). A process that starts waits for the end of the log.
package projector
