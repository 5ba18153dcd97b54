package columns

import (
	"encoding/binary"
	"time"
)

// Each function appends a value in PostgreSQL's binary format, with its length in
// front.

// null is the length of NULL, -1.
const null = "\xff\xff\xff\xff"

func textOf(out []byte, value string) []byte {
	return append(binary.BigEndian.AppendUint32(out, uint32(len(value))), value...)
}

func byteaOf(out, value []byte) []byte {
	if value == nil {
		return append(out, null...)
	}
	return append(binary.BigEndian.AppendUint32(out, uint32(len(value))), value...)
}

func int8Of(out []byte, value int64) []byte {
	return binary.BigEndian.AppendUint64(append(out, 0, 0, 0, 8), uint64(value))
}

func int4Of(out []byte, value int32) []byte {
	return binary.BigEndian.AppendUint32(append(out, 0, 0, 0, 4), uint32(value))
}

func boolOf(out []byte, value bool) []byte {
	if value {
		return append(out, 0, 0, 0, 1, 1)
	}
	return append(out, 0, 0, 0, 1, 0)
}

// epoch is PostgreSQL's epoch, 2000-01-01, in microseconds of Unix time.
const epoch = 946_684_800_000_000

// timeOf truncates to microseconds, as pgx does.
func timeOf(out []byte, value time.Time) []byte {
	return int8Of(out, value.Unix()*1_000_000+int64(value.Nanosecond())/1_000-epoch)
}

// int4sOf appends an array of one dimension without NULLs.
func int4sOf(out []byte, values []int32) []byte {
	const int4 = 23 // its oid
	dimensions := min(1, len(values))
	size := 12 + 8*dimensions + 8*len(values)
	be := binary.BigEndian
	for _, word := range []int{size, dimensions, 0, int4} {
		out = be.AppendUint32(out, uint32(word))
	}
	if dimensions > 0 {
		out = be.AppendUint32(out, uint32(len(values)))
		out = be.AppendUint32(out, 1) // the index of the first element
	}
	for _, value := range values {
		out = int4Of(out, value)
	}
	return out
}
