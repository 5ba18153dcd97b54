package chakra

import (
	"math"
	"strconv"
)

// kind is the type of an attribute's value. An attribute name has no fixed kind: tools
// use different integer types.
type kind uint8

const (
	noValue kind = iota
	signed
	unsigned
	floating
	boolean
	text
	other // lists and bytes
)

// value is the value of an attribute.
type value struct {
	kind kind
	bits uint64 // a number or a boolean
	text []byte
}

// int64 returns the value as an integer, or 0 if there is no value.
func (v value) int64() (int64, bool) {
	switch v.kind {
	case noValue, signed, boolean:
		return int64(v.bits), true
	case unsigned:
		return int64(v.bits), v.bits <= math.MaxInt64
	case floating:
		f := math.Float64frombits(v.bits)
		return int64(f), f == math.Trunc(f) && math.Abs(f) < 1<<53
	default:
		return 0, false
	}
}

// count returns the value as a non-negative integer, or 0 if there is no value.
func (v value) count() (uint64, bool) {
	if v.kind == unsigned {
		return v.bits, true
	}
	i, ok := v.int64()
	return uint64(i), ok && i >= 0
}

// string returns the value as a name. The name of a process group may be a number.
func (v value) string() (string, bool) {
	switch v.kind {
	case noValue:
		return "", true
	case text:
		return string(v.text), true
	case signed, unsigned:
		i, ok := v.int64()
		return strconv.FormatInt(i, 10), ok
	default:
		return "", false
	}
}

// raw holds attributes whose meaning depends on the node's type, until the record is
// read: the type may come after the attributes.
type raw struct {
	kind    int64 // comm_type, if hasKind
	hasKind bool
	size    int64
}

const maxGroupName = 255 // bytes

// set stores one attribute. It ignores attributes that have no meaning here.
func (r *Reader) set(n *Node, name []byte, v value) error {
	ok := true
	switch string(name) {
	case "is_cpu_op":
		var i int64
		i, ok = v.int64()
		n.CPU = i != 0
	case "num_ops":
		n.Operations, ok = v.count()
	case "tensor_size":
		n.TensorSize, ok = v.count()
	case "comm_type":
		r.raw.kind, ok = v.int64()
		r.raw.hasKind = true
	case "comm_size":
		r.raw.size, ok = v.int64()
	case "comm_src":
		n.Source, ok = v.int64()
	case "comm_dst":
		n.Destination, ok = v.int64()
	case "comm_tag":
		n.Tag, ok = v.int64()
	case "comm_priority":
		n.Priority, ok = v.int64()
	case "pg_name":
		if v.kind == text && string(v.text) == r.group {
			n.Group = r.group // most nodes have the group of the node before
			return nil
		}
		if len(v.text) > maxGroupName {
			return refuse("the name in pg_name has %d bytes; at most %d are read", len(v.text), maxGroupName)
		}
		n.Group, ok = v.string()
		r.group = n.Group
	}
	if !ok {
		return refuse("attribute %s has an invalid value", name)
	}
	return nil
}

// settle fills in the fields that depend on the node's type.
func (r *Reader) settle(n *Node) error {
	switch n.Type {
	case SendNode, ReceiveNode:
	case CollectiveNode:
		if !r.raw.hasKind {
			return nil
		}
		if r.raw.kind < 0 || r.raw.kind > int64(Barrier) {
			return refuse("comm_type %d is not in the schema, which has 0 to %d", r.raw.kind, Barrier)
		}
		n.Collective = Collective(r.raw.kind)
	default:
		return nil
	}
	if r.raw.size < 0 {
		return refuse("comm_size is negative: %d", r.raw.size)
	}
	n.Size = uint64(r.raw.size)
	return nil
}

// reset empties the node but keeps the capacity of its slices.
func (r *Reader) reset(n *Node) {
	*n = Node{
		Data: n.Data[:0], Control: n.Control[:0],
		Collective: NoCollective, Source: Absent, Destination: Absent, Tag: Absent,
	}
	r.raw = raw{}
}
