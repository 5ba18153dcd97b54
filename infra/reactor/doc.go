// Package reactor lets handlers react to facts: Watermill's router on the
// family topics, with its subscriber for Kafka.
//
// # What a handler sees
//
// Facts only, each at least once, in the order of their partition. A record is
// held back until the projector has judged it and is dropped unless it was
// accepted, so when a handler runs, the read model already shows the fact. A
// fact may come again (after a crash, or when partitions move between
// processes), so a handler writes by commands whose ids derive from the fact.
//
// # Groups
//
// Each handler and family is a consumer group of its own, named
//
//	netsim-reactor.<handler>.<family>
//
// so a handler that is slow or stuck delays nobody else, and processes share
// the partitions of each. A group without offsets begins at the oldest record.
//
// # What fails
//
// A handler that fails is retried with exponential backoff and jitter. After
// the last try the fact becomes a dead letter: it goes to the dead-letter topic
// with its frame, its position and the reason, and the partition goes on;
// nothing is dropped. It goes there only while the read model answers: when
// PostgreSQL is away every handler fails and no fact is to blame, so it is tried
// on until that is over. A body that cannot be read goes there at once.
//
// Each dead letter is logged once and counted. Retry passes its fact to its
// handler again, once the cause is mended. When that succeeds, a second record
// in the dead-letter topic, of the same key and without a value, says that the
// letter is settled. So the topic alone says which letters are open, also after
// PostgreSQL was lost (DeadLetters).
//
// Offsets live in Kafka. What a reaction put into PostgreSQL and was lost with
// it must be derived from the read model (package jobs does).
package reactor
