package iceberg

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
)

// record is an encoded Avro record.
type record []byte

func (r *record) long(n int64)   { *r = binary.AppendVarint(*r, n) } // zigzag, as Avro's
func (r *record) text(s string)  { r.long(int64(len(s))); *r = append(*r, s...) }
func (r *record) bytes(b []byte) { r.long(int64(len(b))); *r = append(*r, b...) }
func (r *record) branch(i int64) { r.long(i) } // of a union
func (r *record) items(n int)    { r.long(int64(n)) }
func (r *record) endItems()      { r.long(0) }

// container returns an Avro object container file with the records, in one block.
func container(schema string, metadata map[string]string, records []record) ([]byte, error) {
	metadata = maps.Clone(metadata)
	metadata["avro.schema"], metadata["avro.codec"] = schema, "deflate"
	var head record = []byte("Obj\x01")
	head.items(len(metadata))
	for _, key := range slices.Sorted(maps.Keys(metadata)) {
		head.text(key)
		head.text(metadata[key])
	}
	head.endItems()
	mark := sha256.Sum256(head)
	sync := mark[:16]
	head = append(head, sync...)
	if len(records) == 0 {
		return head, nil
	}
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.DefaultCompression)
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		if _, err := w.Write(r); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("compress a block: %w", err)
	}
	head.long(int64(len(records)))
	head.bytes(packed.Bytes())
	return append(head, sync...), nil
}
