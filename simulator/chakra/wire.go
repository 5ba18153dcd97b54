package chakra

import (
	"encoding/binary"
	"errors"
	"io"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// binaryForm reads varint-framed protobuf.
type binaryForm struct {
	*Reader

	skip  int    // bytes of the previous record, still in the buffer
	large []byte // a record that does not fit into the buffer
}

// record returns the next record, which is valid until the next call. io.EOF means that
// the file ends here, not within a record.
func (f *binaryForm) record() ([]byte, error) {
	if _, err := f.src.Discard(f.skip); err != nil {
		return nil, err
	}
	f.skip = 0
	f.at = f.offset
	head, err := f.src.Peek(binary.MaxVarintLen64)
	if len(head) == 0 {
		return nil, err
	}
	length, width := protowire.ConsumeVarint(head)
	switch {
	case width < 0 && err != nil && errors.Is(protowire.ParseError(width), io.ErrUnexpectedEOF):
		return nil, unexpected(err)
	case width < 0:
		return nil, refuse("the record's length is not a varint")
	case length > uint64(f.limits.Record):
		return nil, refuse("the record has %d bytes; at most %d are read", length, f.limits.Record)
	}
	if _, err := f.src.Discard(width); err != nil {
		return nil, err
	}
	f.offset += int64(width) + int64(length)
	if int(length) <= f.src.Size() {
		b, err := f.src.Peek(int(length))
		f.skip = len(b)
		return b, unexpected(err)
	}
	if cap(f.large) < int(length) {
		f.large = make([]byte, length)
	}
	_, err = io.ReadFull(f.src, f.large[:length])
	return f.large[:length], unexpected(err)
}

// unexpected turns io.EOF into io.ErrUnexpectedEOF.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// field is one field of a message. Its value is in bits or bytes.
type field struct {
	number protowire.Number
	wire   protowire.Type
	bits   uint64
	bytes  []byte
}

// fieldOf returns the first field of a message and the rest of the message.
func fieldOf(b []byte) (f field, rest []byte, err error) {
	var n int
	f.number, f.wire, n = protowire.ConsumeTag(b)
	if n < 0 {
		return f, nil, refuse("the record is not protobuf")
	}
	b = b[n:]
	switch f.wire {
	case protowire.VarintType:
		f.bits, n = protowire.ConsumeVarint(b)
	case protowire.BytesType:
		f.bytes, n = protowire.ConsumeBytes(b)
	case protowire.Fixed64Type:
		f.bits, n = protowire.ConsumeFixed64(b)
	case protowire.Fixed32Type:
		var v uint32
		v, n = protowire.ConsumeFixed32(b)
		f.bits = uint64(v)
	default:
		n = -1
	}
	if n < 0 {
		return f, nil, refuse("field %d of the record is cut or malformed", f.number)
	}
	return f, b[n:], nil
}

// metadata reads the first record.
func (f *binaryForm) metadata() error {
	b, err := f.record()
	if err != nil {
		return unexpected(err)
	}
	for len(b) > 0 {
		var v field
		if v, b, err = fieldOf(b); err != nil {
			return err
		}
		switch {
		case v.wire == protowire.BytesType && v.number == 1:
			if len(v.bytes) > 0 && v.bytes[0] == 0x0a { // an attribute, not a text
				return oldMetadata
			}
			if f.meta.Version, err = f.short(v.bytes); err != nil {
				return err
			}
		case v.wire == protowire.BytesType && v.number == 2:
			name, value, err := f.attribute(v.bytes)
			if err != nil {
				return err
			}
			if string(name) == "schema" {
				if f.meta.Schema, err = f.short(value.text); err != nil {
					return err
				}
			}
		case v.wire == protowire.VarintType && (v.number == 1 || v.number == 3):
			return oldNodes
		case v.number <= 2:
			return notTrace
		}
	}
	return nil
}

// short returns a text of the metadata, and refuses a text that is too long.
func (r *Reader) short(b []byte) (string, error) {
	if len(b) > maxGroupName {
		return "", refuse("a version has %d bytes; at most %d are read", len(b), maxGroupName)
	}
	return string(b), nil
}

// next reads a node.
func (f *binaryForm) next(n *Node) error {
	b, err := f.record()
	if err != nil {
		return err
	}
	if len(b) == 0 {
		return refuse("the record is empty")
	}
	for len(b) > 0 {
		var v field
		if v, b, err = fieldOf(b); err != nil {
			return err
		}
		if err := f.take(n, v); err != nil {
			return err
		}
	}
	return nil
}

// take reads one field of a node.
func (f *binaryForm) take(n *Node, v field) (err error) {
	wire := protowire.BytesType
	switch v.number {
	case 1, 3, 6, 7:
		wire = protowire.VarintType
	case 4, 5:
		wire = v.wire // packed or not
	}
	if v.number <= 10 && v.wire != wire {
		return refuse("field %d is not of the current schema; is this an older layout?", v.number)
	}
	switch v.number {
	case 1:
		n.ID, f.hasID = v.bits, true
	case 2:
		n.Name = string(v.bytes)
	case 3:
		if v.bits > uint64(lastNodeType) {
			return refuse("node type %d is not in the schema, which has 0 to %d", v.bits, lastNodeType)
		}
		n.Type = NodeType(v.bits)
	case 4:
		n.Control, err = appendIDs(n.Control, v)
	case 5:
		n.Data, err = appendIDs(n.Data, v)
	case 6:
		n.Start = v.bits
	case 7:
		n.Duration = v.bits
	case 10:
		var name []byte
		var value value
		if name, value, err = f.attribute(v.bytes); err == nil {
			err = f.set(n, name, value)
		}
	}
	return err
}

// appendIDs appends one id, or a packed list of ids.
func appendIDs(ids []uint64, v field) ([]uint64, error) {
	if v.wire == protowire.VarintType {
		return append(ids, v.bits), nil
	}
	if v.wire != protowire.BytesType {
		return ids, refuse("field %d is not of the current schema; is this an older layout?", v.number)
	}
	for b := v.bytes; len(b) > 0; {
		id, n := protowire.ConsumeVarint(b)
		if n < 0 {
			return ids, refuse("the list of dependencies is malformed")
		}
		ids = append(ids, id)
		b = b[n:]
	}
	return ids, nil
}

// attribute reads an AttributeProto.
func (f *binaryForm) attribute(b []byte) (name []byte, v value, err error) {
	if len(b) > f.limits.Attribute {
		return nil, v, refuse("an attribute has %d bytes; at most %d are read", len(b), f.limits.Attribute)
	}
	for len(b) > 0 {
		var part field
		if part, b, err = fieldOf(b); err != nil {
			return nil, v, err
		}
		if part.number == 1 && part.wire == protowire.BytesType {
			name = part.bytes
		} else if part.number > 2 {
			v = valueOf(part)
		}
	}
	return name, v, nil
}

// valueOf reads the value of an attribute. The field number determines its kind.
func valueOf(f field) value {
	if (f.wire == protowire.BytesType) != (f.number == 29) {
		return value{kind: other}
	}
	switch f.number {
	case 3:
		return value{kind: floating, bits: f.bits}
	case 5:
		return value{kind: floating, bits: math.Float64bits(float64(math.Float32frombits(uint32(f.bits))))}
	case 7, 9, 25: // int32, int64, sfixed64
		return value{kind: signed, bits: f.bits}
	case 11, 13, 19, 21: // uint32, uint64, fixed32, fixed64
		return value{kind: unsigned, bits: f.bits}
	case 15, 17: // sint32, sint64
		return value{kind: signed, bits: uint64(protowire.DecodeZigZag(f.bits))}
	case 23: // sfixed32
		return value{kind: signed, bits: uint64(int64(int32(f.bits)))}
	case 27:
		return value{kind: boolean, bits: f.bits}
	case 29:
		return value{kind: text, text: f.bytes}
	default:
		return value{kind: other}
	}
}
