// Package reactor lets handlers react to facts: Watermill's router on the
// family topics, with its subscriber for Kafka.
//
// # Delivery
//
// A handler gets facts only, each at least once, in the order of their partition.
// A record is delayed until the projector has judged it, and dropped unless it
// was accepted. So when a handler runs, the read model has the fact. A fact can
// be delivered again, after a crash or when partitions move between processes,
// so a handler writes by commands whose ids derive from the fact.
//
// # Groups
//
// Each handler and family is a consumer group of its own, named
//
//	netsim-reactor.<handler>.<family>
//
// so a slow or stuck handler delays no other, and processes share the partitions
// of each. A group without offsets begins at the oldest record.
//
// # Failures
//
// A handler that fails is retried with exponential backoff and jitter. After the
// last retry the fact becomes a dead letter: the record is written to the
// dead-letter topic with its frame, its position and the reason, and the
// partition goes on. That happens only while the read model answers: when
// PostgreSQL is down every handler fails, whatever the fact, so the retries go
// on until it is back. A fact whose body cannot be read becomes a dead letter at
// once.
//
// Each dead letter is logged once and counted. Retry passes its fact to its
// handler again, once the cause is fixed. When that succeeds, a second record in
// the dead-letter topic, with the same key and no value, settles the letter. So
// the topic alone has the open letters, even when PostgreSQL was lost
// (DeadLetters).
//
// Offsets are stored in Kafka. Whatever a reaction stores in PostgreSQL must be
// derivable from the read model, for the case that PostgreSQL is lost (as package
// jobs does).
package reactor
