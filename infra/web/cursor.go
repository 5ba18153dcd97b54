package web

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"netsim/fault"
)

const (
	cursorTTL  = 24 * time.Hour // completions.md section 1.4
	maxCursor  = 2 << 10        // characters
	expirySize = 8
)

// Cursors seals list positions, so that clients can neither read nor forge them. A cursor
// is bound to its list and valid for 24 hours, or as long as Lasting says.
//
// A cursor is base64url of what a Ring seals: its expiry and its position. After a
// rotation of keys the old key must stay in the list for a day.
type Cursors struct {
	ring     *Ring
	now      func() time.Time
	lifetime time.Duration
}

// NewCursors returns Cursors that seal with the first key and open with any of
// them. A key has 32 bytes.
func NewCursors(keys [][]byte, now func() time.Time) (*Cursors, error) {
	ring, err := NewRing(keys)
	if err != nil {
		return nil, fmt.Errorf("cursors: %w", err)
	}
	return &Cursors{ring: ring, now: now, lifetime: cursorTTL}, nil
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
	plain := binary.BigEndian.AppendUint64(make([]byte, 0, expirySize+len(position)), uint64(c.now().Add(c.lifetime).Unix()))
	return base64.RawURLEncoding.EncodeToString(c.ring.Seal(binding, append(plain, position...)))
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
	if err != nil {
		return nil, bad
	}
	plain, ok := c.ring.Open(binding, raw)
	if !ok || len(plain) < expirySize || c.now().Unix() >= int64(binary.BigEndian.Uint64(plain)) {
		return nil, bad
	}
	return plain[expirySize:], nil
}
