// Package reactor lets handlers react to facts: it runs Watermill's router, with its
// middlewares for retries and dead letters, on a subscriber of its own that reads
// facts through package facts.
//
// # Delivery
//
// A handler gets only facts that the read model has, each at least once. It gets the
// facts of a stream in order, one after the other; facts of different streams are
// under way at the same time, up to a number for each handler and family. A fact can
// be delivered again, after a crash or when shards move between processes, so a
// handler writes by commands whose ids derive from the fact.
//
// A fact that is not done delays only the later facts of its stream. Its handler
// reads on, up to maxOpen facts; when memory is short, the facts behind it leave
// memory and are read again later.
//
// # Positions
//
// Each handler and family is a consumer group of its own, without members:
//
//	netsim-reactor.<handler>.<family>
//
// The committed offset of a partition is that of its first fact that is not done. The
// commit's metadata names the later facts that are not done, up to some offset, so
// that a restart repeats nothing that is done. When they do not fit into the
// metadata, it names the first of them, and the facts done after these are repeated.
// A group without offsets begins at the oldest record.
//
// Positions that have moved are committed at most once a second, but at once after a
// dead letter and when a session ends. Once a minute all are committed, because
// brokers delete the offsets of groups without members after days without commits.
//
// # Shards and sessions
//
// A process reacts to the facts of the shards that Leases gives it. A session is
// the work on one set of shards: it begins at the committed positions; when the set
// changes, it hands out nothing more, waits up to closeTimeout for what is under way,
// and commits. Then the next session begins.
//
// # Why a position never loses a fact
//
// A position says that certain facts are done. That stays true, whichever process
// commits it. So no commit loses a fact; one with a smaller offset only causes facts
// to be repeated. To avoid that, a commit reads the committed offset first and writes
// nothing when that is larger. A process that was paused and lost its shards reads its
// successor's offset when it wakes up, and leaves it. One that is paused between this
// read and its write can still move the position back, once. The successor's next
// commit, at most a minute later, moves it on again; a restart before that repeats
// facts. Repeated facts, and reactions that a former holder still has under way,
// change nothing: the ids of their commands derive from the fact, and the log accepts
// each once.
//
// The metadata also has the anchor of what was read (events.Anchor). A position whose
// record the partition does not have, or that lies beyond its end, is of another log or of
// one that has lost its tail. The handler begins again at the oldest record; what it
// repeats changes nothing.
//
// # Failures
//
// A handler that fails is retried with exponential backoff and jitter. After the
// last retry the fact becomes a dead letter: the record is written to the
// dead-letter topic with its frame, its position and the reason, and its stream
// goes on. That happens only while the read model answers: when PostgreSQL is down
// every handler fails, whatever the fact, so the retries go on until it is back. A
// fact whose body cannot be read becomes a dead letter at once.
//
// Each dead letter is logged once and counted. Retry passes its fact to its
// handler again, once the cause is fixed. When that succeeds, a second record in
// the dead-letter topic, with the same key and no value, settles the letter. So
// the topic alone has the open letters, even when PostgreSQL was lost
// (DeadLetters).
//
// Positions are stored in Kafka, so facts that are done are not delivered again when
// PostgreSQL is lost. Whatever a reaction stores in PostgreSQL must therefore be
// derivable from the read model, as with package jobs.
package reactor
