package events

import "crypto/sha256"

// Head is the sequence and hash of a stream's last fact. A stream without facts has
// the zero Head.
type Head struct {
	Sequence int64
	Hash     Hash
}

// Verdict says whether a record is a fact, and if not, why.
type Verdict string

// The verdicts. Only an accepted record is a fact.
const (
	Accepted  Verdict = "accepted"
	Duplicate Verdict = "duplicate" // a copy of the head
	Stale     Verdict = "stale"     // another event has its sequence, or it is a copy of an older one
	Gap       Verdict = "gap"       // its predecessor is not a fact
	Broken    Verdict = "broken"    // its previous hash is not the head's
	Misplaced Verdict = "misplaced" // not in the partition of its key
	Forged    Verdict = "forged"    // not sealed as the partition demands
	BadFrame  Verdict = "bad-frame" // the frame cannot be read
)

// Judge returns the verdict on a record of a partition, from its frame and hash. The
// topic has count partitions. Admitted says whether the partition's Sealing admits
// the record's seal.
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
// of the previous digest and the fact's hash. Two readers with equal digests at
// an offset have seen the same facts.
type Digest [sha256.Size]byte

// Add returns the digest after one more fact.
func (d Digest) Add(fact Hash) Digest {
	var buf [2 * sha256.Size]byte
	copy(buf[:], d[:])
	copy(buf[sha256.Size:], fact[:])
	return sha256.Sum256(buf[:])
}
