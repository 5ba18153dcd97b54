package eventlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"time"

	"github.com/segmentio/kafka-go/compress"

	"netsim/events"
)

// maxInflated bounds the decompressed size of a batch, in bytes.
const maxInflated = 256 << 20

var errCorrupt = errors.New("the batch is corrupt")

// batch is one record batch as a broker sends it.
type batch struct {
	header  []byte
	records []byte // compressed if the header says so
}

func (b batch) base() int64 { return int64(binary.BigEndian.Uint64(b.header)) }

// next is the offset after the batch.
func (b batch) next() int64 {
	return b.base() + int64(binary.BigEndian.Uint32(b.header[atLastDelta:])) + 1
}

func (b batch) attributes() uint16 { return binary.BigEndian.Uint16(b.header[atAttributes:]) }

// takeBatch reads one batch from the front of a record set and verifies its
// checksum. It returns ok false for an incomplete last batch, because a broker
// truncates a record set at the requested size.
func takeBatch(set *[]byte) (b batch, ok bool, err error) {
	s := *set
	if len(s) < batchHeader {
		return batch{}, false, nil
	}
	size := int64(atLength+4) + int64(int32(binary.BigEndian.Uint32(s[atLength:])))
	switch {
	case size > int64(len(s)):
		return batch{}, false, nil
	case size < batchHeader:
		return batch{}, false, fmt.Errorf("%w: length %d", errCorrupt, size)
	case s[atMagic] != 2:
		return batch{}, false, fmt.Errorf("message format %d is not supported", s[atMagic])
	case crc32.Checksum(s[atAttributes:size], castagnoli()) != binary.BigEndian.Uint32(s[atCRC:]):
		return batch{}, false, fmt.Errorf("%w: checksum", errCorrupt)
	}
	*set = s[size:]
	return batch{header: s[:batchHeader], records: s[batchHeader:size]}, true, nil
}

// decoder turns batches into records that share the memory of the response. The
// names of headers recur in every record, so they are interned.
type decoder struct {
	topic     string
	partition int32
	names     map[string]string
	before    []events.Header // headers of the previous record
	headers   []events.Header // backing array; its unused part is for the next records
	records   []events.Record
}

// add appends the batch's records, starting at offset from.
func (d *decoder) add(b batch, from int64) error {
	body, err := inflate(b)
	if err != nil {
		return fmt.Errorf("batch at offset %d: %w", b.base(), err)
	}
	c := cursor{rest: body}
	count := int(int32(binary.BigEndian.Uint32(b.header[atRecordCount:])))
	if count < 0 || count > len(body) {
		return fmt.Errorf("batch at offset %d: %w", b.base(), errCorrupt)
	}
	d.records = slices.Grow(d.records, count)
	first := int64(binary.BigEndian.Uint64(b.header[atFirstTime:]))
	appended := int64(binary.BigEndian.Uint64(b.header[atMaxTime:]))
	for i := range count {
		c.varint() // length
		c.take(1)  // attributes
		at := first + c.varint()
		if b.attributes()&logAppendTimeBit != 0 {
			at = appended
		}
		offset := b.base() + c.varint()
		m := d.message(&c, count-i)
		if c.broken {
			return fmt.Errorf("batch at offset %d: %w", b.base(), errCorrupt)
		}
		if offset >= from {
			d.records = append(d.records, events.Record{
				Message: m, Topic: d.topic, Partition: d.partition, Offset: offset, Time: time.UnixMilli(at).UTC(),
			})
		}
	}
	return nil
}

// message decodes a message. So many records of the batch are left, with this one.
func (d *decoder) message(c *cursor, left int) events.Message {
	m := events.Message{Key: c.bytes(), Value: c.bytes()}
	n := c.varint()
	if n < 0 || n > int64(len(c.rest)) { // a header takes two bytes at least
		c.broken = true
	}
	if n == 0 || c.broken {
		return m
	}
	if cap(d.headers)-len(d.headers) < int(n) {
		d.headers = make([]events.Header, 0, max(int(n), min(left*int(n), 1024)))
	}
	start := len(d.headers)
	for i := range int(n) {
		d.headers = append(d.headers, events.Header{Key: d.name(i, c.bytes()), Value: c.bytes()})
	}
	m.Headers = d.headers[start:len(d.headers):len(d.headers)]
	d.before = m.Headers
	return m
}

// name returns the interned name of the header with the given index. It tries the
// previous record's name first, which is the same in most cases.
func (d *decoder) name(index int, key []byte) string {
	if index < len(d.before) && d.before[index].Key == string(key) {
		return d.before[index].Key
	}
	name, known := d.names[string(key)]
	if !known {
		name = string(key)
		d.names[name] = name
	}
	return name
}

// inflate returns the batch's records uncompressed. The event log never
// compresses; other producers may.
func inflate(b batch) ([]byte, error) {
	code := compress.Compression(b.attributes() & compressionBits)
	if code == compress.None {
		return b.records, nil
	}
	codec := code.Codec()
	if codec == nil {
		return nil, fmt.Errorf("compression %d is not supported", code)
	}
	r := codec.NewReader(bytes.NewReader(b.records))
	defer r.Close()
	body, err := io.ReadAll(io.LimitReader(r, maxInflated+1))
	if err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	if len(body) > maxInflated {
		return nil, fmt.Errorf("%w: more than %d bytes when decompressed", errCorrupt, maxInflated)
	}
	return body, nil
}
