// Package jobs runs long and timed work from a durable queue in PostgreSQL
// (river, schema jobs). It knows no kind of work: each kind stands beside what
// does it, as a struct of arguments with a name, and is registered with a Kind.
//
// # Who works on a job
//
// A worker holds a PostgreSQL advisory lock, named after the job's kind and
// arguments, in a session of its own. The lock alone says whether a worker is
// alive:
//
//   - A worker begins only with the lock. If another worker has it, the job is
//     delayed.
//   - A worker killed with -9 loses its session, and PostgreSQL frees the lock
//     at once; if its machine is gone, after the keepalives, 15 seconds. The
//     queue still has the job as running. Every process with workers reconciles
//     every 5 seconds: a job becomes available again if it has been running for
//     longer than a worker needs to take its lock, and its lock is free.
//   - A worker whose session breaks notices within a second, and the context of
//     its job ends.
//
// River has a rule of its own: after a time a running job counts as stuck. A
// simulation may run for days, so no time is right. The timeout of every kind is
// infinite for river, so that its rescuer leaves jobs alone.
//
// Between the end of a session and the notice two workers may be at one job.
// Their work must allow for that: two attempts at a simulation write the same
// bytes, under prefixes of their own or that of the engine snapshot from which
// they continue, and the log accepts one of two final events.
//
// # Which run is next
//
// Jobs of fair kinds are taken fairly by account, weighted by their cost (fair.go,
// ADR 19). Those that wait are pending in river's table; the next four are
// available.
//
// # Nothing is lost with the database
//
// Work that was enqueued and lost with PostgreSQL is derived again: each
// reconciliation enqueues a job for everything that needs one and has none (Need).
package jobs
