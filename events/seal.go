package events

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strings"
	"sync"
)

// SealHeader is the header that proves that the service wrote a record: the id of a
// writer's key, a colon, and in hex the HMAC-SHA-256 with that key over
//
//	"netsim.seal.v1" and a line feed, the family, a line feed, the event's hash (32 bytes)
//
// The hash covers the frame and the value; the family ties the record to its
// topic. The hash does not cover the seal, so hash chains do not depend on the
// writers' keys, and readers without keys can compute them.
const SealHeader = "netsim-seal"

const (
	sealDomain  = "netsim.seal.v1\n"
	secretBytes = 32
	keyIDBytes  = 8
	sealLength  = 2*keyIDBytes + 1 + 2*sha256.Size
)

// Unchecked is what Sealer returns for every record if the reader has no keys. Such
// a reader admits every record.
const Unchecked = "unchecked"

// WriterKeys are the keys with which the processes of a deployment seal their
// records and verify each other's. The first key seals; all keys verify. A nil
// *WriterKeys seals nothing and verifies nothing. WriterKeys are safe for
// concurrent use.
type WriterKeys struct{ keys []*writerKey }

// writerKey is a key with a pool of its HMACs.
type writerKey struct {
	id   string // hex
	macs sync.Pool
}

// mac is one HMAC with its buffers.
type mac struct {
	hash.Hash
	in, out []byte
}

// ErrWriterKey is wrapped by ParseWriterKeys' error for a text that is not a key.
var ErrWriterKey = errors.New("a writer's key is 64 hex digits, such as openssl rand -hex 32 prints")

// ParseWriterKeys parses keys, each 32 bytes in hex. The first key seals. It returns
// nil for no keys. Errors do not contain the keys.
func ParseWriterKeys(texts ...string) (*WriterKeys, error) {
	k := &WriterKeys{}
	for i, text := range texts {
		secret, err := hex.DecodeString(text)
		if err != nil || len(secret) != secretBytes {
			return nil, fmt.Errorf("key %d of %d: %w", i+1, len(texts), ErrWriterKey)
		}
		one := newWriterKey(secret)
		if slices.ContainsFunc(k.keys, func(other *writerKey) bool { return other.id == one.id }) {
			return nil, fmt.Errorf("key %d of %d is given twice", i+1, len(texts))
		}
		k.keys = append(k.keys, one)
	}
	if len(k.keys) == 0 {
		return nil, nil
	}
	return k, nil
}

// newWriterKey derives the key's id by an HMAC, so that the id discloses nothing
// about the key.
func newWriterKey(secret []byte) *writerKey {
	k := &writerKey{}
	k.macs.New = func() any { return &mac{Hash: hmac.New(sha256.New, secret)} }
	m := k.macs.Get().(*mac)
	m.Write([]byte(sealDomain))
	k.id = hex.EncodeToString(m.Sum(nil)[:keyIDBytes])
	return k
}

// sum puts the HMAC of an event into m.out.
func (m *mac) sum(family Family, hash *Hash) []byte {
	m.Reset()
	m.in = append(append(append(append(m.in[:0], sealDomain...), family...), '\n'), hash[:]...)
	m.Write(m.in)
	m.out = m.Sum(m.out[:0])
	return m.out
}

// Signer returns the id of the key that seals; "" without keys.
func (k *WriterKeys) Signer() string {
	if k == nil {
		return ""
	}
	return k.keys[0].id
}

// Has reports whether the key with the id is one of the keys.
func (k *WriterKeys) Has(id string) bool {
	return k != nil && slices.ContainsFunc(k.keys, func(key *writerKey) bool { return key.id == id })
}

// Seal returns the message of an event with the event's seal.
func (k *WriterKeys) Seal(family Family, hash Hash, m Message) Message {
	if k == nil {
		return m
	}
	key := k.keys[0]
	state := key.macs.Get().(*mac)
	value := make([]byte, 0, sealLength)
	value = append(append(value, key.id...), ':')
	value = hex.AppendEncode(value, state.sum(family, &hash))
	key.macs.Put(state)
	m.Headers = append(m.Headers[:len(m.Headers):len(m.Headers)], Header{SealHeader, value})
	return m
}

// Sealer returns the id of the key that sealed a record. It returns "" if the
// record has no seal, several seals, or one that does not verify. Without keys it
// returns Unchecked.
func (k *WriterKeys) Sealer(family Family, hash Hash, m *Message) string {
	if k == nil {
		return Unchecked
	}
	var value []byte
	for i := range m.Headers {
		if m.Headers[i].Key != SealHeader {
			continue
		}
		if value != nil || len(m.Headers[i].Value) != sealLength {
			return ""
		}
		value = m.Headers[i].Value
	}
	if value == nil || value[2*keyIDBytes] != ':' {
		return ""
	}
	var given [sha256.Size]byte
	if !lowerHex(value[2*keyIDBytes+1:], given[:]) {
		return ""
	}
	for _, key := range k.keys {
		if string(value[:2*keyIDBytes]) != key.id {
			continue
		}
		state := key.macs.Get().(*mac)
		same := hmac.Equal(state.sum(family, &hash), given[:])
		key.macs.Put(state)
		if same {
			return key.id
		}
	}
	return ""
}

// Sealing lists the ids of the keys that sealed a LogSealed of a partition, in
// order. An empty Sealing demands no seals. Otherwise the last key and keys that are
// not listed are admitted; the keys before the last are retired.
type Sealing []string

// Admits reports whether a record with a sealer may be a fact. A LogSealed always
// needs a seal, so that a writer without a key cannot demand seals.
func (s Sealing) Admits(f *Frame, sealer string) bool {
	switch {
	case sealer == Unchecked:
		return true
	case len(s) == 0:
		return sealer != "" || f.Type != logSealedType
	}
	return sealer != "" && !slices.Contains(s[:len(s)-1], sealer)
}

// After returns the Sealing after an accepted record.
func (s Sealing) After(f *Frame, sealer string) Sealing {
	if f.Type != logSealedType || sealer == Unchecked || len(s) > 0 && s[len(s)-1] == sealer {
		return s
	}
	return append(s[:len(s):len(s)], sealer)
}

// String returns the ids with spaces between them, which ParseSealing parses.
func (s Sealing) String() string { return strings.Join(s, " ") }

// ParseSealing parses the result of String.
func ParseSealing(text string) Sealing { return strings.Fields(text) }

// SealStream returns the stream of a partition's LogSealed: the first
// of seal_<family>_0, seal_<family>_1 … that belongs to the partition.
func SealStream(family Family, partition, count int32) string {
	name := append([]byte(SealPrefix), '_')
	name = append(append(name, family...), '_')
	for n := 0; ; n++ {
		stream := string(fmt.Append(bytes.Clone(name), n))
		if PartitionOf(stream, count) == partition {
			return stream
		}
	}
}

const logSealedType = "netsim.log.sealed.v1"

// LogSealed records that a partition accepts only sealed records from here on, and
// none sealed by a key of an earlier LogSealed. It must itself be sealed.
// Source: docs/log.md.
type LogSealed struct {
	KeyID string `json:"keyId"` // id of the key that sealed it, for information only; the rule uses the seal
}

func (LogSealed) EventType() string { return logSealedType }
