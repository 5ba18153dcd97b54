// Package facts delivers the facts of the log to subscribers, and shares the work
// among processes.
//
// # Shards
//
// Families have the same number of partitions and the same hash of the partition
// key, so partition i of all families is shard i: one unit of order and
// ownership.
//
// # Leases
//
// The processes that read for a subscriber, such as a read model, share its shards
// by Leases in PostgreSQL. A lease has an epoch, which grows each time that a process
// acquires the lease. A projector's commit is refused unless its epoch is that of the
// lease. So a process that was suspended in the middle of a commit, and replaced,
// writes nothing when it wakes up.
//
// # Subscription
//
// A Reader gives a subscriber the facts of a partition from any offset on, in
// the order of the log. It first waits for the verdicts, and then reads: from memory
// what this process has appended lately, and the rest from the broker. So nothing
// polls the broker while nothing happens, and a batch has no record that is not
// judged. A Reader asks for the rejected records of a whole range at once, and
// decodes a fact once for all subscribers that keep up.
//
// Subscribers of one partition share what was read. Each asks for the batch
// after its own last one; the first to ask reads it, and the others find it
// among the recent batches of the partition. A subscriber that is behind reads
// for itself, and delays none of the others for longer than one fetch.
//
// A Reader keeps no position. A subscriber stores its own, and gets facts again when
// it resumes from an older one. Reactions do not use the epochs: package reactor says
// why a former holder does no harm.
package facts
