// Package jobs runs long and timed work from a durable queue in PostgreSQL
// (river, schema jobs): simulations, the reading of traces, the nightly accrual
// of costs, and the removal of what deleted simulations left behind.
//
// # Who is alive
//
// A job that is worked on holds a PostgreSQL advisory lock, named after its
// kind and arguments, in a session of its own. The lock is the truth about
// liveness, and nothing else is:
//
//   - A worker begins only with the lock. Without it another worker is at the
//     same work, and the job is put off.
//   - A worker killed with -9 loses its session, and PostgreSQL frees the lock
//     at once; when its machine is gone, after the keepalives, 15 seconds.
//     The queue still calls the job running. Every process with workers
//     reconciles every 5 seconds: jobs that are called running, began longer
//     ago than a worker needs to take its lock, and whose lock is free are
//     made available again.
//   - A worker whose session breaks while it lives notices within a second and
//     its context ends.
//
// River has a notion of its own, a time after which a running job counts as
// stuck. A simulation may run for days, so no time is right: every kind's
// timeout is infinite for river, which makes its rescuer leave jobs alone.
//
// Between a broken session and its notice two workers may be at one job. What
// they do must stand that: a simulation's attempts write the same bytes, under
// prefixes of their own or that of the checkpoint which they go on from, and of
// two final events the log accepts one.
//
// # Whose run is next
//
// Runs are taken fairly by account, weighted by their cost (fair.go, ADR 19).
// Those that wait are pending in river's table; the next four are available.
//
// # Nothing is lost with the database
//
// Work that is enqueued by a reaction and lost with PostgreSQL is derived
// again: the reconciliation enqueues a run for every simulation that is to run
// and has no job, and likewise for the tracesets that are to be read.
package jobs
