// Package jobs runs long and timed work from a durable queue in PostgreSQL
// (river, schema jobs). It defines no kinds of jobs: other packages define each kind
// as a struct of arguments with a name, and register it with a Kind.
//
// # Which worker has a job
//
// A worker holds a PostgreSQL advisory lock, named after the job's kind and
// arguments, in a session of its own. The lock alone says whether a worker is
// alive:
//
//   - A worker begins only with the lock. If another worker has it, the job is
//     delayed.
//   - A worker killed with -9 loses its session, and PostgreSQL releases the lock
//     at once. If its machine is lost, the keepalives end the session after 15
//     seconds. In the queue the job is still running. Every process with workers
//     reconciles every 5 seconds: a job whose lock is free becomes available again
//     if it has been running for longer than a worker needs to take the lock.
//   - A worker whose session breaks notices within a second, and the context of
//     its job ends.
//
// River also has a timeout, after which it rescues a running job as stuck. A
// simulation may run for days, so no timeout would be right. Every kind tells river
// that its timeout is infinite, so river rescues none of its jobs.
//
// Between the end of a session and the moment its worker notices, two workers may
// work on one job. The work must allow for that: two attempts at a simulation write
// the same bytes, each under its own prefix or that of the engine snapshot from which
// it continues, and the log accepts only one of the two final events.
//
// # Which run is next
//
// Jobs of fair kinds are taken fairly by account, weighted by their cost (fair.go,
// ADR 19). No account has all workers, and a job may yield its worker (yield.go, ADR 65).
// Short ones have workers of their own (ADR 82). In river's table the next four of a queue are available, and all later
// ones are pending.
//
// # When a worker looks for a job
//
// Whatever makes a job available also notifies the workers of its queue: an enqueueing, a
// choice of the next runs, a reconciliation, a process that stops, and the process whose
// worker has delayed a job, once that is due (wake.go). The poll every 5 seconds is for a
// notification that was lost, a process that was killed, and river's own schedule.
//
// # The database's clock
//
// PostgreSQL's clock says when a job is due and when it was fetched. If it was ahead for a
// while, the jobs of that while would wait until it is that late again. No job is delayed
// for more than 30 seconds, so a reconciliation makes those that are due more than a
// minute from now due at once, and treats those that were fetched then as if they had been
// running for long.
//
// # Loss of the database
//
// Jobs that were lost with PostgreSQL are enqueued again: each reconciliation
// enqueues a job for every object that needs one and has none (Need).
package jobs
