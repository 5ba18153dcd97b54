package main

import (
	"encoding/binary"
	"fmt"

	"netsim/simulator/chakra"
)

// record is an encoded part of a protobuf message.
type record []byte

func (r record) number(field, v uint64) record {
	return binary.AppendUvarint(binary.AppendUvarint(r, field<<3), v)
}

func (r record) text(field uint64, v string) record {
	return append(binary.AppendUvarint(binary.AppendUvarint(r, field<<3|2), uint64(len(v))), v...)
}

// attribute adds an integer attribute of a node.
func (r record) attribute(name string, v int) record {
	return r.text(10, string(record(nil).text(1, name).number(9, uint64(v))))
}

// group returns the name of a rank's group of eight.
func group(rank int) string { return fmt.Sprintf("tensor-%d", rank/8) }

// trace returns a rank's trace in the binary form. Each step has a computation of
// 10 us, an all-reduce in the rank's group, a message to the next group, and a message
// from the previous group.
func trace(rank, ranks, steps int) []byte {
	file := make([]byte, 0, steps*320)
	add := func(r record) { file = append(binary.AppendUvarint(file, uint64(len(r))), r...) }
	add(record(nil).text(1, "0.0.4"))
	node := func(id int, kind chakra.NodeType, name string, needs ...int) record {
		r := record(nil).number(1, uint64(id)).text(2, name).number(3, uint64(kind))
		for _, n := range needs {
			r = r.number(5, uint64(n))
		}
		return r
	}
	next, before := (rank+8)%ranks, (rank+ranks-8)%ranks
	for step := range steps {
		id := 4*step + 1
		first := node(id, chakra.ComputeNode, "COMP_NODE_forward").number(7, 10)
		if step > 0 {
			first = node(id, chakra.ComputeNode, "COMP_NODE_forward", id-2, id-1).number(7, 10)
		}
		add(first.attribute("num_ops", 1_000_000_000))
		add(node(id+1, chakra.CollectiveNode, "COMM_COLL_NODE_all_reduce", id).attribute("comm_type", 0).attribute("comm_size", 1<<20).
			text(10, string(record(nil).text(1, "pg_name").text(29, group(rank)))))
		add(node(id+2, chakra.SendNode, "COMM_SEND_NODE", id+1).attribute("comm_dst", next).attribute("comm_tag", step).attribute("comm_size", 1<<18))
		add(node(id+3, chakra.ReceiveNode, "COMM_RECV_NODE", id).attribute("comm_src", before).attribute("comm_tag", step).attribute("comm_size", 1<<18))
	}
	return file
}
