package eventlog

import (
	"encoding/binary"
	"hash/crc32"
	"time"

	"netsim/events"
)

// A record batch of Kafka's message format 2 (Kafka documentation, section
// "Record Batch"): a header of 61 bytes, big endian, and the records.
const (
	batchHeader   = 61
	atLength      = 8
	atMagic       = 16
	atCRC         = 17
	atAttributes  = 21 // first byte that the checksum covers
	atLastDelta   = 23
	atFirstTime   = 27
	atMaxTime     = 35
	atProducer    = 43
	atEpoch       = 51
	atSequence    = 53
	atRecordCount = 57
)

// The bits of a batch's attributes that matter to a reader.
const (
	compressionBits  = 7
	logAppendTimeBit = 1 << 3
)

// perRecord bounds the bytes of a record in a batch beyond its key, value and
// headers: attributes and six lengths and deltas.
const perRecord = 1 + 6*binary.MaxVarintLen32

// castagnoli returns the table of the batch checksum, which the standard library
// makes once.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// sizeOf returns an upper bound of the bytes that the record takes in a batch.
func sizeOf(m *events.Message) int {
	size := perRecord + len(m.Key) + len(m.Value)
	for i := range m.Headers {
		size += 2*binary.MaxVarintLen32 + len(m.Headers[i].Key) + len(m.Headers[i].Value)
	}
	return size
}

// appendBatch appends one uncompressed batch of the records to buf.
func appendBatch(buf []byte, appends []*Pending, now time.Time) []byte {
	start := len(buf)
	buf = append(buf, make([]byte, batchHeader)...)
	for i, a := range appends {
		buf = appendRecord(buf, &a.message, i, 0)
	}
	sealBatch(buf[start:], len(appends), now.UnixMilli(), now.UnixMilli())
	return buf
}

// sealBatch fills in the header of a batch with so many records, the time of the first
// one and the latest time, both in Unix milliseconds.
func sealBatch(b []byte, count int, first, last int64) {
	be := binary.BigEndian
	be.PutUint32(b[atLength:], uint32(len(b)-atMagic+4)) // the bytes after the length
	be.PutUint32(b[12:], ^uint32(0))                     // leader epoch, which the broker sets
	b[atMagic] = 2
	be.PutUint32(b[atLastDelta:], uint32(count-1))
	be.PutUint64(b[atFirstTime:], uint64(first))
	be.PutUint64(b[atMaxTime:], uint64(last))
	be.PutUint64(b[atProducer:], ^uint64(0)) // no producer id, epoch, sequence
	be.PutUint16(b[atEpoch:], ^uint16(0))
	be.PutUint32(b[atSequence:], ^uint32(0))
	be.PutUint32(b[atRecordCount:], uint32(count))
	be.PutUint32(b[atCRC:], crc32.Checksum(b[atAttributes:], castagnoli()))
}

// setProducer makes a sealed batch one of a producer in its first epoch. The sequence is that
// of the first record.
func setProducer(b []byte, producer int64, sequence int32) {
	be := binary.BigEndian
	be.PutUint64(b[atProducer:], uint64(producer))
	be.PutUint16(b[atEpoch:], 0)
	be.PutUint32(b[atSequence:], uint32(sequence))
	be.PutUint32(b[atCRC:], crc32.Checksum(b[atAttributes:], castagnoli()))
}

// appendRecord appends the record with the given index in the batch, and the time since
// the first record in milliseconds. The length is first, so it is computed before the
// record is written.
func appendRecord(buf []byte, m *events.Message, index int, since int64) []byte {
	length := 1 + timeLen(since) + varintLen(index) + bytesLen(m.Key) + bytesLen(m.Value) + varintLen(len(m.Headers))
	for i := range m.Headers {
		h := &m.Headers[i]
		length += varintLen(len(h.Key)) + len(h.Key) + bytesLen(h.Value)
	}
	buf = binary.AppendVarint(buf, int64(length))
	buf = append(buf, 0) // attributes
	buf = binary.AppendVarint(buf, since)
	buf = binary.AppendVarint(buf, int64(index))
	buf = appendBytes(buf, m.Key)
	buf = appendBytes(buf, m.Value)
	buf = binary.AppendVarint(buf, int64(len(m.Headers)))
	for i := range m.Headers {
		h := &m.Headers[i]
		buf = binary.AppendVarint(buf, int64(len(h.Key)))
		buf = append(buf, h.Key...)
		buf = appendBytes(buf, h.Value)
	}
	return buf
}

// appendBytes appends the length of b and b itself; nil has length -1.
func appendBytes(buf, b []byte) []byte {
	if b == nil {
		return binary.AppendVarint(buf, -1)
	}
	return append(binary.AppendVarint(buf, int64(len(b))), b...)
}

func bytesLen(b []byte) int {
	if b == nil {
		return 1
	}
	return varintLen(len(b)) + len(b)
}

// timeLen is the length of a difference of times, which can be negative, as a varint.
func timeLen(d int64) int { return len(binary.AppendVarint(make([]byte, 0, binary.MaxVarintLen64), d)) }

// varintLen is the length of n >= 0 as a zigzag varint.
func varintLen(n int) int {
	length := 1
	for u := uint64(n) << 1; u >= 0x80; u >>= 7 {
		length++
	}
	return length
}
