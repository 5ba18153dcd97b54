// Package events has the event types, the frame of every record, the hash chain,
// and the rule that decides which records are facts.
//
// # The rule
//
// A record is a fact if and only if, at its offset, its sequence is its stream's
// head plus one and its previous hash is the head's hash. Every other record is
// not a fact, for every reader, for ever. Each partition is judged separately: a
// head belongs to a stream in one partition. Nor is a record a fact outside the
// partition of its key, or without a seal that its partition demands. Optimistic
// concurrency, idempotent retries, exactly-once reactions and tamper evidence all
// follow from the rule (docs/log.md).
//
// # The frame
//
// An event is a Kafka record in the CloudEvents 1.0 binary form: attributes are
// "ce_" headers, the value is the event's data as JSON, the key is the stream.
// Arbitration reads the frame and the value's hash, and never decodes the value,
// so a record whose value cannot be decoded is still a fact. Frame version 1 never
// changes.
//
// The hash of an event is SHA-256 over
//
//	"netsim.frame.v1" LF
//	for each frame header in the order of the table frameHeaders:
//	    length of its value, 4 bytes, big endian
//	    its value (nothing when the header is absent)
//	SHA-256 of the record's value, 32 bytes
//
// testdata/golden has test vectors for other implementations, and an
// implementation in Python, verdicts.py.
package events
