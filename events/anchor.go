package events

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// Anchor is a position in a partition of the log, with what tells this log from others: a
// log that lost its last records and has grown since has other records before the same
// offset. Who stores a position stores an anchor, and goes on only in a log that has its
// record (eventlog.Prove). The zero Anchor is the begin of every log.
type Anchor struct {
	TopicID string // of the topic in which the record was seen; a copy of the log has another one
	Next    int64  // the first offset after what was read
	Last    Sum    // of the record before it; zero if it is not known
}

// Sum is the SHA-256 of a record's key, headers and value, fact or not.
type Sum [sha256.Size]byte

// SumOf returns the sum of a record.
func SumOf(r *Record) (sum Sum) {
	h := sha256.New()
	var length [4]byte
	part := func(b []byte) {
		binary.BigEndian.PutUint32(length[:], uint32(len(b)))
		h.Write(length[:])
		h.Write(b)
	}
	part(r.Key)
	for i := range r.Headers {
		part([]byte(r.Headers[i].Key))
		part(r.Headers[i].Value)
	}
	part(r.Value)
	h.Sum(sum[:0])
	return sum
}

// After returns the anchor at a later position, after a record with the sum; the same
// anchor when the sum is not known.
func (a Anchor) After(next int64, last Sum) Anchor {
	if last == (Sum{}) {
		return a
	}
	return Anchor{a.TopicID, next, last}
}

// String returns <topic id>/<next>/<sum in hex>, and "" for the begin of every log.
func (a Anchor) String() string {
	if a.Next == 0 {
		return ""
	}
	return fmt.Sprintf("%s/%d/%s", a.TopicID, a.Next, hex.EncodeToString(a.Last[:]))
}

// ParseAnchor reads what String returns.
func ParseAnchor(text string) (a Anchor, err error) {
	if text == "" {
		return a, nil
	}
	words := strings.Split(text, "/")
	if len(words) == 3 {
		next, malformed := strconv.ParseInt(words[1], 10, 64)
		sum, other := hex.DecodeString(words[2])
		if malformed == nil && other == nil && next > 0 && len(sum) == len(a.Last) {
			return Anchor{words[0], next, Sum(sum)}, nil
		}
	}
	return a, fmt.Errorf("%q is not an anchor: it must be <topic id>/<offset>/<SHA-256>", text)
}
