// Package snapshot writes and reads engine snapshots. A snapshot has sections, each with the
// name of its content and a checksum.
//
// The same function visits the values of a state to write them and to read them. So every
// value that is written is also read, in the same order.
//
// Reading trusts nothing. A section that is truncated, changed or of other content, or that
// has a value out of bounds, is ErrRefused. Memory grows only with what has been read. The
// checksum only detects accidents, since it has no key. So a visit checks every number that
// is used as an index.
package snapshot

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
)

// ErrRefused is the error of a section that cannot be used; its text says why. Errors of
// the underlying reader are not ErrRefused.
var ErrRefused = errors.New("the engine snapshot cannot be used")

// magic is the first value of a section and names its format. In stored data an engine
// snapshot is called a checkpoint.
const magic = "netsim checkpoint 1\n"

// blockSize is the most bytes that are hashed at once.
const blockSize = 4096

// Codec writes or reads the values of a state. After the first error a call that writes
// does nothing, and a call that reads a value sets it to zero (Index: to its lower bound).
type Codec struct {
	out   io.Writer // nil if the codec reads
	in    source    // nil if the codec writes
	block []byte    // bytes not hashed yet and, if the codec writes, not written yet
	sum   hash.Hash
	err   error
	text  []byte
}

// source is what a section is read from.
type source interface {
	io.Reader
	io.ByteReader
}

// Write writes one section: the name of its content, the values that visit visits, and a
// checksum.
func Write(w io.Writer, name string, visit func(*Codec)) error {
	c := &Codec{out: w, sum: sha256.New(), block: make([]byte, 0, blockSize)}
	c.head(name)
	visit(c)
	c.flush()
	if c.err == nil {
		_, c.err = w.Write(c.sum.Sum(nil))
	}
	return c.err
}

// Read reads a section whose content has this name. From an io.ByteReader it reads no byte
// beyond the section. The values that visit fills in are valid only without an error.
func Read(r io.Reader, name string, visit func(*Codec)) error {
	in, ok := r.(source)
	if !ok {
		in = bufio.NewReader(r)
	}
	c := &Codec{in: in, sum: sha256.New(), block: make([]byte, 0, blockSize)}
	c.head(name)
	visit(c)
	c.flush()
	want, sum := c.sum.Sum(nil), make([]byte, sha256.Size)
	for i := range sum {
		sum[i] = c.take()
	}
	if c.err == nil && !bytes.Equal(sum, want) {
		c.Refuse("its checksum is wrong")
	}
	return c.err
}

// head writes or checks the format and the name of the content.
func (c *Codec) head(name string) {
	for _, want := range []string{magic, name} {
		got := want
		c.Text(&got)
		if got != want {
			c.Refuse("its header has %q, not %q", got, want)
		}
	}
}

// Reading reports whether values are read.
func (c *Codec) Reading() bool { return c.in != nil }

// Failed reports whether there was an error.
func (c *Codec) Failed() bool { return c.err != nil }

// Fail records an error, if it is the first.
func (c *Codec) Fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// Refuse records that the section cannot be used.
func (c *Codec) Refuse(format string, args ...any) {
	c.Fail(fmt.Errorf("%w: %s", ErrRefused, fmt.Sprintf(format, args...)))
}

// put writes some bytes.
func (c *Codec) put(b ...byte) {
	for len(b) > 0 && c.err == nil {
		n := min(len(b), blockSize-len(c.block))
		c.block = append(c.block, b[:n]...)
		if b = b[n:]; len(c.block) == blockSize {
			c.flush()
		}
	}
}

// take reads a byte, 0 after an error.
func (c *Codec) take() byte {
	if c.err != nil {
		return 0
	}
	if len(c.block) == blockSize {
		c.flush()
	}
	b, err := c.in.ReadByte()
	if err != nil {
		c.missing(err)
		return 0
	}
	c.block = append(c.block, b)
	return b
}

// fill reads bytes into the block, at most n, and returns them. They are valid until the
// block is flushed.
func (c *Codec) fill(n int) []byte {
	if len(c.block) == blockSize {
		c.flush()
	}
	from := len(c.block)
	more := c.block[from:min(from+n, blockSize)]
	if _, err := io.ReadFull(c.in, more); err != nil {
		c.missing(err)
		return nil
	}
	c.block = c.block[:from+len(more)]
	return more
}

// missing records that there is nothing more to read.
func (c *Codec) missing(err error) {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		c.Refuse("it is truncated")
		return
	}
	c.Fail(fmt.Errorf("read an engine snapshot: %w", err))
}

// flush hashes the block, and writes it if the codec writes.
func (c *Codec) flush() {
	c.sum.Write(c.block)
	if c.out != nil && c.err == nil {
		_, c.err = c.out.Write(c.block)
	}
	c.block = c.block[:0]
}

// unsigned visits a number as a varint, the form of all numbers: seven bits a byte, the
// lowest first.
func (c *Codec) unsigned(v *uint64) {
	if !c.Reading() {
		c.text = binary.AppendUvarint(c.text[:0], *v)
		c.put(c.text...)
		return
	}
	*v = 0
	for shift := 0; ; shift += 7 {
		b := c.take()
		if shift == 63 && b > 1 {
			c.Refuse("a number is too large")
			*v = 0
			return
		}
		*v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return
		}
	}
}

// Int visits a number that may be negative.
func Int[T ~int | ~int16 | ~int32 | ~int64](c *Codec, v *T) {
	wide := int64(*v)
	zigzag := uint64(wide<<1) ^ uint64(wide>>63)
	c.unsigned(&zigzag)
	if !c.Reading() {
		return
	}
	wide = int64(zigzag>>1) ^ -int64(zigzag&1)
	if *v = T(wide); int64(*v) != wide {
		c.Refuse("the number %d is too large", wide)
		*v = 0
	}
}

// Uint visits a number that is not negative.
func Uint[T ~uint8 | ~uint16 | ~uint32 | ~uint64](c *Codec, v *T) {
	wide := uint64(*v)
	c.unsigned(&wide)
	if !c.Reading() {
		return
	}
	if *v = T(wide); uint64(*v) != wide {
		c.Refuse("the number %d is too large", wide)
		*v = 0
	}
}

// Index visits a number that is at least low and below high. After an error the number
// is low.
func Index[T ~int | ~int16 | ~int32 | ~int64](c *Codec, v *T, low, high int) {
	Int(c, v)
	if c.Reading() && (c.Failed() || int64(*v) < int64(low) || int64(*v) >= int64(high)) {
		c.Refuse("the number %d is not at least %d and below %d", *v, low, high)
		*v = T(low)
	}
}

// Bool visits a boolean.
func (c *Codec) Bool(v *bool) {
	var b uint8
	if *v {
		b = 1
	}
	if Uint(c, &b); b > 1 {
		c.Refuse("a boolean is %d, not 0 or 1", b)
	}
	if c.Reading() {
		*v = b == 1
	}
}

// Same visits a number that the reader knows already. It refuses any other value.
func (c *Codec) Same(what string, n int) {
	got := n
	if Int(c, &got); got != n {
		c.Refuse("it has %d %s, not %d", got, what, n)
	}
}

// Bytes visits a byte slice.
func (c *Codec) Bytes(v *[]byte) {
	n := len(*v)
	Index(c, &n, 0, math.MaxInt32)
	if !c.Reading() {
		c.put(*v...)
		return
	}
	for *v = (*v)[:0]; len(*v) < n && !c.Failed(); {
		*v = append(*v, c.fill(n-len(*v))...)
	}
}

// Text visits a string.
func (c *Codec) Text(v *string) {
	b := []byte(*v)
	c.Bytes(&b)
	if c.Reading() {
		*v = string(b)
	}
}

// Slice visits a list whose length the reader does not know. The function each must visit
// at least one value: then a false length fails at the end of the data.
func Slice[T any](c *Codec, list *[]T, each func(*T)) {
	n := len(*list)
	Index(c, &n, 0, math.MaxInt32)
	if !c.Reading() {
		for i := range *list {
			each(&(*list)[i])
		}
		return
	}
	*list = (*list)[:0]
	for range n {
		var v T
		if each(&v); c.Failed() {
			return
		}
		*list = append(*list, v)
	}
}

// Each visits a list whose length the reader knows already.
func Each[T any](c *Codec, what string, list []T, each func(*T)) {
	c.Same(what, len(list))
	for i := range list {
		if c.Failed() {
			return
		}
		each(&list[i])
	}
}
