package events

import "crypto/sha256"

// Head is where a stream stands: the sequence and hash of its last fact. The
// zero Head is that of a stream without facts.
type Head struct {
	Sequence int64
	Hash     Hash
}

// Verdict is what the rule says of a record.
type Verdict string

// The verdicts. Only Accepted makes a fact; the others say why not.
const (
	Accepted  Verdict = "accepted"
	Duplicate Verdict = "duplicate" // the head itself, once more
	Stale     Verdict = "stale"     // another event has its sequence
	Gap       Verdict = "gap"       // its predecessor is not a fact
	Broken    Verdict = "broken"    // its predecessor is another event
	Misplaced Verdict = "misplaced" // not in the partition of its key
	Forged    Verdict = "forged"    // not sealed as the partition demands
	BadFrame  Verdict = "bad-frame" // nothing that can be read
)

// Judge applies the rule to a record whose frame and hash are given, in the
// partition at hand of a topic with count partitions. Admitted is what the
// partition's Sealing says of its seal.
func Judge(head Head, f *Frame, hash Hash, admitted bool, partition, count int32) Verdict {
	switch {
	case PartitionOf(f.PartitionKey, count) != partition:
		return Misplaced
	case !admitted:
		return Forged
	case f.Sequence == head.Sequence+1 && f.PreviousHash == head.Hash:
		return Accepted
	case f.Sequence == head.Sequence+1:
		return Broken
	case f.Sequence > head.Sequence:
		return Gap
	case hash == head.Hash:
		return Duplicate
	default:
		return Stale
	}
}

// Digest is the running digest over a partition's facts in order: the SHA-256
// of the digest before and the fact's hash. Two readers with equal digests at
// an offset have seen the same facts.
type Digest [sha256.Size]byte

// Add returns the digest after one more fact.
func (d Digest) Add(fact Hash) Digest {
	var buf [2 * sha256.Size]byte
	copy(buf[:], d[:])
	copy(buf[sha256.Size:], fact[:])
	return sha256.Sum256(buf[:])
}
