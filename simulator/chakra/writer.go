package chakra

import (
	"errors"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
)

// The field numbers of an attribute's name and of the kinds of its value.
const (
	attributeName   protowire.Number = 1
	attributeInt64  protowire.Number = 9
	attributeUint64 protowire.Number = 13
	attributeBool   protowire.Number = 27
	attributeString protowire.Number = 29
)

// WriteBinary writes the trace that r reads in the binary form, which other simulators read,
// and returns the number of nodes. It writes what Node has: other attributes of a file are
// not read, and so not written. An error is one of r, or of w.
func WriteBinary(w io.Writer, r *Reader) (nodes int64, err error) {
	meta := r.Metadata()
	record := textField(nil, 1, meta.Version)
	if meta.Schema != "" {
		record = messageField(record, 2, textField(textField(nil, attributeName, "schema"), attributeString, meta.Schema))
	}
	if err := writeRecord(w, record); err != nil {
		return 0, err
	}
	for {
		n, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nodes, nil
		}
		if err == nil {
			err = writeRecord(w, n.encode(record[:0]))
		}
		if err != nil {
			return nodes, err
		}
		nodes++
	}
}

func writeRecord(w io.Writer, record []byte) error {
	if _, err := w.Write(protowire.AppendVarint(nil, uint64(len(record)))); err != nil {
		return err
	}
	_, err := w.Write(record)
	return err
}

// encode appends the fields of a node.
func (n *Node) encode(b []byte) []byte {
	b = numberField(b, 1, n.ID)
	b = textField(b, 2, n.Name)
	b = numberField(b, 3, uint64(n.Type))
	for number, ids := range [...][]uint64{4: n.Control, 5: n.Data} {
		if len(ids) > 0 {
			var list []byte
			for _, id := range ids {
				list = protowire.AppendVarint(list, id)
			}
			b = messageField(b, protowire.Number(number), list)
		}
	}
	b = numberField(numberField(b, 6, n.Start), 7, n.Duration)
	for _, a := range n.attributes() {
		b = messageField(b, 10, a)
	}
	return b
}

// attributes returns the attributes of a node. Those of communications are left out where
// the node has none.
func (n *Node) attributes() [][]byte {
	cpu := uint64(0)
	if n.CPU {
		cpu = 1
	}
	list := [][]byte{attributeOf("is_cpu_op", attributeBool, cpu)}
	count := func(name string, v uint64) {
		if v != 0 {
			list = append(list, attributeOf(name, attributeUint64, v))
		}
	}
	count("num_ops", n.Operations)
	count("tensor_size", n.TensorSize)
	count("comm_size", n.Size)
	if n.Type == CollectiveNode && n.Collective != NoCollective {
		list = append(list, attributeOf("comm_type", attributeInt64, uint64(n.Collective)))
	}
	if n.Type == SendNode || n.Type == ReceiveNode {
		for _, a := range []struct {
			name string
			v    int64
		}{{"comm_src", n.Source}, {"comm_dst", n.Destination}, {"comm_tag", n.Tag}} {
			if a.v != Absent {
				list = append(list, attributeOf(a.name, attributeInt64, uint64(a.v)))
			}
		}
	}
	if n.Priority != 0 {
		list = append(list, attributeOf("comm_priority", attributeInt64, uint64(n.Priority)))
	}
	if n.Group != "" {
		list = append(list, textField(textField(nil, attributeName, "pg_name"), attributeString, n.Group))
	}
	return list
}

// attributeOf returns an attribute with a number. An attribute of a bool or an integer has
// its value even if it is 0.
func attributeOf(name string, kind protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(textField(nil, attributeName, name), kind, protowire.VarintType), v)
}

func numberField(b []byte, number protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), v)
}

func textField(b []byte, number protowire.Number, text string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, number, protowire.BytesType), text)
}

func messageField(b []byte, number protowire.Number, message []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), message)
}
