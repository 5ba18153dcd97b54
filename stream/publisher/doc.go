// Package publisher publishes the facts of the log in public topics, each fact once and
// those of a stream in order, for consumers of committed records.
//
// # Shards and sessions
//
// Partition i of every family of the log is shard i. One process at a time holds the
// lease of a shard, and publishes it in a session:
//
//  1. connect with the shard's transactional id, which fences every former session and
//     ends its open transaction;
//  2. find out what is published (position.go), and check that the log still has it;
//  3. read facts of all families, and publish them in transactions: records, then the
//     positions in the log as offsets of a consumer group, then the commit.
//
// Any error ends the session. The next one begins at step 1, so no state outlives an
// error.
//
// # Why no fact is lost or doubled
//
// A public partition has the facts of one partition of the log, in its order: the number
// of public partitions is a multiple of those of the log, and both are chosen by the same
// hash of the partition key. So the facts up to the source offset of a public
// partition's last committed record are published, and those after it are not. Between
// steps 1 and 3 nobody else can change that: a former session is fenced by the broker,
// whatever it was doing, and a later session would fence this one. A transaction whose
// outcome is unknown is complete or aborted after step 1.
//
// The group's position adds only what no record shows: how many records after the last
// fact were read and are not facts, and what is published of a topic whose old records
// were deleted. It is committed with the id of the public topic, and counts for no other,
// and with the record before it (events.Anchor): a log that has another one is refused. A
// position that is missing, expired or set by hand changes nothing.
//
// # A topic that is made again
//
// A topic that is deleted and created has another id, and is filled from the first fact.
// Republish keeps sessions away meanwhile. If another program deletes a topic, a session
// that was publishing into it compares the ids after it has sent its records and before
// it commits. It asks the leaders, which know the topic into which they have written.
//
// # Without transactions
//
// Where the brokers have none, records are sent by an idempotent producer, and the
// positions are committed afterwards. The next session continues after the last
// published record, so a crash repeats nothing. But the broker does not fence a process
// that was suspended while it was sending: when it wakes up, what it was sending can
// arrive once more, behind newer facts. The event's id and the stream's sequence tell
// such a repeat.
package publisher
