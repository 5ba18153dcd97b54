package eventlog

import "encoding/binary"

// cursor reads fields from the front of a byte slice. When a field is missing, the
// cursor is broken and returns zero values from then on.
type cursor struct {
	rest   []byte
	broken bool
}

// take returns the next n bytes, sharing memory with the slice.
func (c *cursor) take(n int) []byte {
	if n < 0 || n > len(c.rest) {
		c.rest, c.broken = nil, true
		return nil
	}
	b := c.rest[:n:n]
	c.rest = c.rest[n:]
	return b
}

func (c *cursor) int16() int16 {
	if b := c.take(2); b != nil {
		return int16(binary.BigEndian.Uint16(b))
	}
	return 0
}

func (c *cursor) int32() int32 {
	if b := c.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (c *cursor) int64() int64 {
	if b := c.take(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

// varint reads a zigzag varint of at most 64 bits.
func (c *cursor) varint() int64 {
	v, n := binary.Varint(c.rest)
	if n <= 0 {
		c.rest, c.broken = nil, true
		return 0
	}
	c.rest = c.rest[n:]
	return v
}

// bytes reads a length as a varint and that many bytes; length -1 is nil.
func (c *cursor) bytes() []byte {
	n := c.varint()
	if n == -1 || c.broken {
		return nil
	}
	if n < 0 || n > int64(len(c.rest)) {
		c.rest, c.broken = nil, true
		return nil
	}
	return c.take(int(n))
}
