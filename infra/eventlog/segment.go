package eventlog

import (
	"encoding/binary"
	"fmt"

	"netsim/events"
)

// AppendBatches appends records, whose offsets follow one another, to dst as Kafka's
// record batches of format 2, as a broker stores them: uncompressed, with the offset and
// the time of each record. Equal records give equal bytes, however they were fetched.
func AppendBatches(dst []byte, records []events.Record) []byte {
	for len(records) > 0 {
		n, size := 0, 0
		for n < len(records) && (n == 0 || size+sizeOf(&records[n].Message) <= batchBytes) {
			size += sizeOf(&records[n].Message)
			n++
		}
		dst = appendStored(dst, records[:n])
		records = records[n:]
	}
	return dst
}

// appendStored appends one batch.
func appendStored(dst []byte, records []events.Record) []byte {
	start := len(dst)
	dst = append(dst, make([]byte, batchHeader)...)
	first := records[0].Time.UnixMilli()
	last := first
	for i := range records {
		at := records[i].Time.UnixMilli()
		last = max(last, at)
		dst = appendRecord(dst, &records[i].Message, i, at-first)
	}
	binary.BigEndian.PutUint64(dst[start:], uint64(records[0].Offset))
	sealBatch(dst[start:], len(records), first, last)
	return dst
}

// ReadBatches returns the records of batches that AppendBatches has written. The records
// share the memory of set.
func ReadBatches(set []byte, topic string, partition int32) ([]events.Record, error) {
	d := decoder{topic: topic, partition: partition, names: map[string]string{}}
	for len(set) > 0 {
		b, ok, err := takeBatch(&set)
		if err == nil && !ok {
			err = fmt.Errorf("%w: the last batch is incomplete", errCorrupt)
		}
		if err == nil {
			err = d.add(b, 0)
		}
		if err != nil {
			return nil, err
		}
	}
	return d.records, nil
}
