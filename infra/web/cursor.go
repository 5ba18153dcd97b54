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
	cursorTTL     = 24 * time.Hour // completions.md section 1.4
	cursorVersion = 1
	maxCursor     = 2 << 10 // characters

	keyIDSize   = 4
	nonceSize   = 12
	tagSize     = 16
	expirySize  = 8
	sealedStart = 1 + keyIDSize + nonceSize
)

// Cursors seals list positions with AES-256-GCM, so that clients can neither read
// nor forge them. A cursor is bound to its list and valid for 24 hours,
// or as long as Lasting says.
//
// A cursor is base64url of: version, key id, random nonce, sealed(expiry,
// position). Random nonces are safe for about 2^32 cursors per key. To rotate
// keys, put a new key first and keep the old key in the list for a day.
type Cursors struct {
	ring     []cursorKey
	now      func() time.Time
	lifetime time.Duration
}

type cursorKey struct {
	id   [keyIDSize]byte
	aead cipher.AEAD
}

// NewCursors returns Cursors that seal with the first key and open with any of
// them. A key has 32 bytes.
func NewCursors(keys [][]byte, now func() time.Time) (*Cursors, error) {
	if len(keys) == 0 {
		return nil, errors.New("cursors: a key is required")
	}
	c := &Cursors{now: now, lifetime: cursorTTL}
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

// Binding encodes what a cursor is bound to: the operation, its parameters, what the
// caller may see, and everything else that determines the list's rows and their
// order. Different lists of parts never have the same encoding.
func Binding(parts ...string) []byte {
	var b []byte
	for _, part := range parts {
		b = binary.AppendUvarint(b, uint64(len(part)))
		b = append(b, part...)
	}
	return b
}

// Seal returns the cursor for a position of at most 1 KiB.
func (c *Cursors) Seal(binding, position []byte) string {
	key := c.ring[0]
	out := make([]byte, sealedStart, sealedStart+expirySize+len(position)+tagSize)
	out[0] = cursorVersion
	copy(out[1:], key.id[:])
	rand.Read(out[1+keyIDSize : sealedStart])
	plain := binary.BigEndian.AppendUint64(make([]byte, 0, expirySize+len(position)), uint64(c.now().Add(c.lifetime).Unix()))
	plain = append(plain, position...)
	out = key.aead.Seal(out, out[1+keyIDSize:sealedStart], plain, associated(out, binding))
	return base64.RawURLEncoding.EncodeToString(out)
}

// Lasting returns Cursors with the same keys, whose cursors are valid for the
// lifetime.
func (c *Cursors) Lasting(lifetime time.Duration) *Cursors {
	return &Cursors{ring: c.ring, now: c.now, lifetime: lifetime}
}

// Open returns the position in a cursor. The error is Validation unless one of the
// keys sealed the cursor for this binding, and its time has not passed. The error does not
// say which of these conditions failed.
func (c *Cursors) Open(binding []byte, cursor string) ([]byte, error) {
	bad := fault.New(fault.Validation, "cursor is invalid or expired")
	if len(cursor) > maxCursor || strings.ContainsAny(cursor, "\r\n") { // base64 ignores line breaks
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

// associated is the additional data of the AEAD: version, key id and binding.
func associated(cursor, binding []byte) []byte {
	return append(append(make([]byte, 0, 1+keyIDSize+len(binding)), cursor[:1+keyIDSize]...), binding...)
}
