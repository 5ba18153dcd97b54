package tables

import (
	"encoding/binary"
	"io"
)

// FooterWriter passes a Parquet file on. It counts the bytes, and knows the size of the
// footer once the file is complete.
type FooterWriter struct {
	To    io.Writer
	Bytes int64
	last  [8]byte
}

// Write implements io.Writer.
func (w *FooterWriter) Write(b []byte) (int, error) {
	n, err := w.To.Write(b)
	w.Bytes += int64(n)
	tail := append(append([]byte(nil), w.last[:]...), b[max(0, n-len(w.last)):n]...)
	copy(w.last[:], tail[len(tail)-len(w.last):])
	return n, err
}

// FooterBytes returns the size of the footer of a complete file, in bytes: a file ends
// with this number, in four bytes, and a mark of four bytes.
func (w *FooterWriter) FooterBytes() int64 { return int64(binary.LittleEndian.Uint32(w.last[:4])) }
