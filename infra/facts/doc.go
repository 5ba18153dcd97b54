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
package facts
