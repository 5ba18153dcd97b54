package web

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"netsim/fault"
)

const (
	cursorLife    = 24 * time.Hour // completions.md section 1.4
	cursorVersion = 1
	maxCursor     = 2 << 10 // characters

	keyIDSize   = 4
	nonceSize   = 12
	tagSize     = 16
	expirySize  = 8
	sealedStart = 1 + keyIDSize + nonceSize
)

// Cursors seals list positions so that clients can neither read nor make them:
// AES-256-GCM, bound to the list they were given out for, valid for 24 hours.
//
// In characters base64url, a cursor is: version, the key's id, a random nonce,
// sealed(expiry, payload). The nonces allow some 2^32 cursors per key; change
// the first key now and then and keep the old one behind it for a day.
type Cursors struct {
	ring []cursorKey
	now  func() time.Time
}

type cursorKey struct {
	id   [keyIDSize]byte
	aead cipher.AEAD
}

// NewCursors makes Cursors that seal with the first key, of 32 bytes, and open
// with any of them.
func NewCursors(keys [][]byte, now func() time.Time) (*Cursors, error) {
	if len(keys) == 0 {
		return nil, errors.New("cursors: a key is required")
	}
	c := &Cursors{now: now}
	for _, key := range keys {
		if len(key) != 32 {
			return nil, fmt.Errorf("cursors: a key has 32 bytes, got %d", len(key))
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, fmt.Errorf("cursors: %w", err)
		}
		aead, err := cipher.NewGCM(block)
		if err != nil {
			return nil, fmt.Errorf("cursors: %w", err)
		}
		sum := sha256.Sum256(append([]byte("netsim cursor key "), key...))
		c.ring = append(c.ring, cursorKey{id: [keyIDSize]byte(sum[:]), aead: aead})
	}
	return c, nil
}

// Binding names the list that a cursor belongs to: its route, and everything
// that decides what is in it and in which order (account, filters, sort).
func Binding(route string, filters ...string) []byte {
	var b []byte
	for _, part := range append([]string{route}, filters...) {
		b = binary.AppendUvarint(b, uint64(len(part)))
		b = append(b, part...)
	}
	return b
}

// Seal returns the cursor of a position, which is at most 1 KiB.
func (c *Cursors) Seal(binding, position []byte) string {
	key := c.ring[0]
	out := make([]byte, sealedStart, sealedStart+expirySize+len(position)+tagSize)
	out[0] = cursorVersion
	copy(out[1:], key.id[:])
	rand.Read(out[1+keyIDSize : sealedStart])
	plain := binary.BigEndian.AppendUint64(make([]byte, 0, expirySize+len(position)), uint64(c.now().Add(cursorLife).Unix()))
	plain = append(plain, position...)
	out = key.aead.Seal(out, out[1+keyIDSize:sealedStart], plain, associated(out, binding))
	return base64.RawURLEncoding.EncodeToString(out)
}

// Open returns the position in a cursor. It returns Validation for everything
// that this service did not seal for this list within the last 24 hours, and
// does not say which of these it was.
func (c *Cursors) Open(binding []byte, cursor string) ([]byte, error) {
	bad := fault.New(fault.Validation, "cursor is invalid or expired")
	if len(cursor) > maxCursor || strings.ContainsAny(cursor, "\r\n") { // which base64 would pass over
		return nil, bad
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(raw) < sealedStart+expirySize+tagSize || raw[0] != cursorVersion {
		return nil, bad
	}
	for _, key := range c.ring {
		if key.id != [keyIDSize]byte(raw[1:]) {
			continue
		}
		plain, err := key.aead.Open(nil, raw[1+keyIDSize:sealedStart], raw[sealedStart:], associated(raw, binding))
		if err != nil || c.now().Unix() >= int64(binary.BigEndian.Uint64(plain)) {
			return nil, bad
		}
		return plain[expirySize:], nil
	}
	return nil, bad
}

// associated is what a cursor is authentic for beside its content: version
// and key, and the list.
func associated(cursor, binding []byte) []byte {
	return append(append(make([]byte, 0, 1+keyIDSize+len(binding)), cursor[:1+keyIDSize]...), binding...)
}
