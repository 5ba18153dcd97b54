// Package facts brings the facts of the log to those who need them.
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
// by Leases in PostgreSQL. A lease has an epoch that grows with every change of
// the holder. What a holder writes is refused once its epoch is not the lease's:
// so a process that was suspended in the middle of a commit, and replaced, writes
// nothing when it wakes up.
//
// # Subscription
//
// A Reader gives a subscriber the facts of a partition from any offset on, in
// the order of the log. It first waits for the verdicts, and then fetches: so
// nothing polls the broker while nothing happens, and a record is never fetched
// before its verdict is known. It asks for the rejected records of a whole range
// at once, and decodes each fact once.
//
// Subscribers of one partition share what was read. Each asks for the batch
// after its own last one; the first to ask reads it, and the others find it
// among the recent batches of the partition. A subscriber that is behind reads
// for itself, and delays none of the others for longer than one fetch.
//
// A Reader keeps no position. A subscriber stores its own, and delivers as often
// as that implies. Reactions are not fenced by epochs: package reactor says why a
// former holder does no harm.
package facts
