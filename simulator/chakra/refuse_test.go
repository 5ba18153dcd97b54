package chakra_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"netsim/simulator/chakra"
)

// message is a protobuf message, or a file of framed messages.
type message []byte

func (m message) number(field protowire.Number, v uint64) message {
	return protowire.AppendVarint(protowire.AppendTag(m, field, protowire.VarintType), v)
}

func (m message) bytes(field protowire.Number, v []byte) message {
	return protowire.AppendBytes(protowire.AppendTag(m, field, protowire.BytesType), v)
}

func (m message) fixed(field protowire.Number, v uint32) message {
	return protowire.AppendFixed32(protowire.AppendTag(m, field, protowire.Fixed32Type), v)
}

func (m message) attribute(name string, field protowire.Number, v uint64) message {
	return m.bytes(10, message{}.bytes(1, []byte(name)).number(field, v))
}

func (m message) group(name string) message {
	return m.bytes(10, message{}.bytes(1, []byte("pg_name")).bytes(29, []byte(name)))
}

// frame returns the file with another record.
func (m message) frame(record message) message { return protowire.AppendBytes(slices.Clip(m), record) }

// head returns a file that has only its metadata.
func head() message { return message{}.frame(message{}.bytes(1, []byte("0.0.4"))) }

func node(id uint64, kind chakra.NodeType) message {
	return message{}.number(1, id).number(3, uint64(kind))
}

// Files of other known formats are refused with an error that names their format.
func TestWhatIsNoTraceIsRefusedByName(t *testing.T) {
	t.Parallel()
	tar := make([]byte, 1024)
	copy(tar, "rank_0.chakra.json")
	copy(tar[257:], "ustar")
	tests := map[string]struct {
		content []byte
		message string
	}{
		"empty":          {nil, "the file is empty"},
		"empty gzip":     {compress(t, nil), "the file is empty"},
		"text":           {[]byte("hello, world\n"), "this is not a Chakra trace: neither its binary form nor its JSON forms"},
		"markup":         {[]byte("<?xml version=\"1.0\"?><algo/>"), "this is not a Chakra trace: neither its binary form nor its JSON forms"},
		"JSON list":      {[]byte("[1,2]"), "this is not a Chakra trace: neither its binary form nor its JSON forms"},
		"other JSON":     {[]byte(`{"a":1}`), "this is not a Chakra trace: neither its binary form nor its JSON forms"},
		"host trace":     {testdata(t, "refused/pytorch_host_et.json.gz"), "this is a PyTorch host execution trace, not a Chakra trace; link it with the profiler's trace and convert it with Chakra's tools"},
		"profile":        {[]byte(`{"schemaVersion":1,"traceEvents":[]}`), "this is a profiler's trace (Kineto), not a Chakra trace; link it with the host execution trace and convert it with Chakra's tools"},
		"tar":            {tar, "this is a tar archive, not the trace of one rank"},
		"twice":          {compress(t, compress(t, head())), "this is compressed twice"},
		"proto2":         {message{}.frame(message{}.number(1, 7).bytes(2, []byte("a")).number(3, 6)), "this is an older Chakra layout (proto2), which starts with a node instead of the metadata; convert it to the current schema"},
		"no metadata":    {message{}.frame(node(0, chakra.ComputeNode)), "this is an older Chakra layout (proto2), which starts with a node instead of the metadata; convert it to the current schema"},
		"early metadata": {message{}.frame(message{}.bytes(1, message{}.bytes(1, []byte("schema")))), "this is an older Chakra layout, whose metadata has no version; convert it to the current schema"},
		"JSON node":      {[]byte(`{"id":"1"}`), "this starts with a node; the first object has to be the metadata"},
		"broken gzip":    {[]byte("\x1f\x8bhello, gzip"), "cannot be decompressed"},
		"broken zstd":    {[]byte("\x28\xb5\x2f\xfdhello"), "cannot be decompressed"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := sum(bytes.NewReader(tt.content))
			var wrong *chakra.Error
			if !errors.As(err, &wrong) || !strings.Contains(err.Error(), tt.message) {
				t.Errorf("got %v, want %s", err, tt.message)
			}
		})
	}
}

// An invalid record is refused with an error that names its node and offset.
func TestRecordsAtFaultAreNamed(t *testing.T) {
	t.Parallel()
	const graph = `{"workload_graph":[{"Id":1,"NodeType":4},`
	first := head().frame(node(1, chakra.ComputeNode)) // 13 bytes
	collective := func(m message) message { return first.frame(append(node(2, chakra.CollectiveNode), m...)) }
	tests := map[string]struct {
		content []byte
		message string
	}{
		"empty record":       {first.frame(nil), "node number 2 at byte 13: the record is empty"},
		"no protobuf":        {first.frame(message("\x00")), "node number 2 at byte 13: the record is not protobuf"},
		"group":              {first.frame(message("\x0b\x0c")), "node number 2 at byte 13: field 1 of the record is cut or malformed"},
		"length":             {append(slices.Clip(first), bytes.Repeat([]byte{0xff}, 11)...), "node number 2 at byte 13: the record's length is not a varint"},
		"field beyond":       {first.frame(message("\x08\x02\x12\x7f")), "node 2 at byte 13: field 2 of the record is cut or malformed"},
		"wire of an id":      {first.frame(message{}.bytes(1, []byte("a"))), "node number 2 at byte 13: field 1 is not of the current schema; is this an older layout?"},
		"wire of inputs":     {first.frame(node(2, chakra.ComputeNode).number(8, 1)), "node 2 at byte 13: field 8 is not of the current schema; is this an older layout?"},
		"type":               {first.frame(node(2, 11)), "node 2 at byte 13: node type 11 is not in the schema, which has 0 to 10"},
		"dependencies":       {first.frame(node(2, chakra.ComputeNode).bytes(5, []byte{0xff})), "node 2 at byte 13: the list of dependencies is malformed"},
		"comm_type":          {collective(message{}.attribute("comm_type", 9, 10)), "node 2 at byte 13: comm_type 10 is not in the schema, which has 0 to 9"},
		"comm_size":          {collective(message{}.attribute("comm_type", 9, 0).attribute("comm_size", 9, 1<<64-3)), "node 2 at byte 13: comm_size is negative: -3"},
		"comm_size, 32 bits": {collective(message{}.attribute("comm_type", 9, 0).bytes(10, message{}.bytes(1, []byte("comm_size")).fixed(23, 1<<32-2))), "node 2 at byte 13: comm_size is negative: -2"},
		"comm_size too big":  {collective(message{}.attribute("comm_type", 9, 0).attribute("comm_size", 13, 1<<63)), "node 2 at byte 13: attribute comm_size has an invalid value"},
		"comm_size as text":  {collective(message{}.bytes(10, message{}.bytes(1, []byte("comm_size")).bytes(29, []byte("1")))), "node 2 at byte 13: attribute comm_size has an invalid value"},
		"negative num_ops":   {collective(message{}.attribute("num_ops", 9, 1<<64-1)), "node 2 at byte 13: attribute num_ops has an invalid value"},
		"long group":         {collective(message{}.group(strings.Repeat("g", 256))), "node 2 at byte 13: the name in pg_name has 256 bytes; at most 255 are read"},
		"long version":       {message{}.frame(message{}.bytes(1, bytes.Repeat([]byte("v"), 256))), "metadata at byte 0: a version has 256 bytes; at most 255 are read"},
		"JSON":               {[]byte(`{"version":"1"} {"id":}`), "node number 1 at byte 15: this is not JSON: invalid character '}' looking for beginning of value"},
		"JSON type":          {[]byte(`{"version":"1"} {"id":1,"type":"COMM"}`), `node number 1 at byte 15: node type "COMM" is not in the schema, which has 0 to 10`},
		"JSON id":            {[]byte(`{"version":"1"} {"id":-1}`), "node number 1 at byte 15: expected a non-negative integer, got -1"},
		"JSON name":          {[]byte(`{"version":"1"} {"id":1,"name":[]}`), "node number 1 at byte 15: member name cannot have the JSON type array"},
		"JSON list":          {[]byte(`{"version":"1"} []`), "node number 1 at byte 15: a record cannot have the JSON type array"},
		"JSON null":          {[]byte(`{"version":"1"} null`), "node number 1 at byte 15: the record is empty"},
		"JSON dependencies":  {[]byte(`{"version":"1"} {"id":1,"dataDeps":["x"]}`), `node number 1 at byte 15: expected the id of a dependency, got "x"`},
		"JSON two values":    {[]byte(`{"version":"1"} {"id":1,"attr":[{"name":"a","int32Val":1,"int64Val":"2"}]}`), "node number 1 at byte 15: attribute a has more than one value"},
		"older JSON":         {[]byte(graph + `{"Id":2,"comm_size":true,"NodeType":"x"}]}`), `node number 2 at byte 40: node type "x" is not in the schema, which has 0 to 10`},
		"older JSON, tail":   {[]byte(graph + `{"Id":2,"NodeType":4}]} 1`), "node number 3 at byte 40: there is data after the trace"},
		"older JSON, a list": {[]byte(`{"workload_graph":{}}`), "metadata at byte 0: expected [, got {"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := sum(bytes.NewReader(tt.content))
			if err == nil || err.Error() != tt.message {
				t.Errorf("got  %v\nwant %s", err, tt.message)
			}
		})
	}
}

// An attribute has the same value in every number type, and is 0 without a value.
func TestAttributesOfEveryKind(t *testing.T) {
	t.Parallel()
	fixed := func(field protowire.Number, wire protowire.Type, v []byte) message {
		return append(protowire.AppendTag(message{}.bytes(1, []byte("comm_size")), field, wire), v...)
	}
	named := func(field protowire.Number, v uint64) message {
		return message{}.bytes(1, []byte("comm_size")).number(field, v)
	}
	tests := map[string]struct {
		attribute message
		want      uint64
	}{
		"none": {message{}.bytes(1, []byte("comm_size")), 0}, "documented": {named(9, 6).bytes(2, []byte("doc")), 6},
		"int32": {named(7, 6), 6}, "int64": {named(9, 6), 6}, "uint32": {named(11, 6), 6}, "uint64": {named(13, 6), 6},
		"sint32": {named(15, 12), 6}, "sint64": {named(17, 12), 6}, "bool": {named(27, 1), 1},
		"fixed32":  {fixed(19, protowire.Fixed32Type, []byte{6, 0, 0, 0}), 6},
		"fixed64":  {fixed(21, protowire.Fixed64Type, []byte{6, 0, 0, 0, 0, 0, 0, 0}), 6},
		"sfixed32": {fixed(23, protowire.Fixed32Type, []byte{6, 0, 0, 0}), 6},
		"sfixed64": {fixed(25, protowire.Fixed64Type, []byte{6, 0, 0, 0, 0, 0, 0, 0}), 6},
		"double":   {fixed(3, protowire.Fixed64Type, []byte{0, 0, 0, 0, 0, 0, 0x18, 0x40}), 6},
		"float":    {fixed(5, protowire.Fixed32Type, []byte{0, 0, 0xc0, 0x40}), 6},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, got, err := sum(bytes.NewReader(head().frame(node(1, chakra.SendNode).bytes(10, tt.attribute))))
			if err != nil || got.Sent != tt.want {
				t.Errorf("got a comm_size of %d, %v, want %d", got.Sent, err, tt.want)
			}
		})
	}
}

// A file at a limit is read, and a file beyond the limit is refused.
func TestLimits(t *testing.T) {
	t.Parallel()
	attribute := func(n int) []byte {
		return head().frame(node(1, chakra.ComputeNode).bytes(10, message{}.bytes(1, []byte("x")).bytes(29, make([]byte, n-7))))
	}
	wide := func(n int) []byte { return head().frame(node(1, chakra.ComputeNode).bytes(8, make([]byte, n-7))) }
	inJSON := func(n int) []byte {
		return append([]byte(`{"version":"1"} {"id":1,"inputs":"`), append(bytes.Repeat([]byte("x"), n), `"}`...)...)
	}
	four := head()
	for id := range uint64(4) {
		four = four.frame(node(id+1, chakra.ComputeNode))
	}
	const freeOfRatio = 16 << 20
	zeros := append([]byte(`{"version":"1"`), bytes.Repeat([]byte(" "), 64<<20)...)
	tests := map[string]struct {
		content []byte
		limits  chakra.Limits
		message string // empty if the file is read
	}{
		"attribute":             {attribute(1000), chakra.Limits{Attribute: 1000}, ""},
		"long attribute":        {attribute(1000), chakra.Limits{Attribute: 999}, "node 1 at byte 8: an attribute has 1000 bytes; at most 999 are read"},
		"record":                {wide(1000), chakra.Limits{Record: 1000}, ""},
		"long record":           {wide(1000), chakra.Limits{Record: 999}, "node number 1 at byte 8: the record has 1000 bytes; at most 999 are read"},
		"record past buffers":   {wide(4 << 20), chakra.Limits{}, ""},
		"record without end":    {append(head(), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f), chakra.Limits{}, "node number 1 at byte 8: the record has 9223372036854775807 bytes; at most 16777216 are read"},
		"JSON record":           {inJSON(1 << 20), chakra.Limits{}, ""},
		"long JSON record":      {inJSON(1 << 20), chakra.Limits{Record: 1 << 18}, "node number 1 at byte 15: the record has more than the 262144 bytes that are read"},
		"nodes":                 {four, chakra.Limits{Nodes: 4}, ""},
		"too many nodes":        {four, chakra.Limits{Nodes: 3}, "the file has more than 3 nodes"},
		"bytes":                 {four, chakra.Limits{Bytes: int64(len(four))}, ""},
		"too many bytes":        {four, chakra.Limits{Bytes: int64(len(four)) - 1}, "the file has more than 27 bytes"},
		"too many bytes packed": {compress(t, four), chakra.Limits{Bytes: int64(len(four)) - 1}, "the file has more than 27 bytes"},
		"bomb":                  {compress(t, zeros), chakra.Limits{Record: 1 << 30}, "the file decompresses to more than 256 times its size"},
		"small but dense":       {compress(t, zeros[:freeOfRatio]), chakra.Limits{Record: 1 << 30}, "metadata at byte 0: the file ends in the middle"},
		"bomb of one record":    {compress(t, zeros), chakra.Limits{Ratio: 1 << 20}, "metadata at byte 0: the record has more than the 16777216 bytes that are read"},
		"nested JSON":           {[]byte(`{"version":"1"} {"id":1,"inputs":` + strings.Repeat("[", 20000)), chakra.Limits{}, "node number 1 at byte 15: this is not JSON: invalid character '[' exceeded max depth"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := chakra.NewReader(bytes.NewReader(tt.content), tt.limits)
			for err == nil {
				_, err = r.Next()
			}
			if tt.message == "" && !errors.Is(err, io.EOF) || tt.message != "" && err.Error() != tt.message {
				t.Errorf("got %v, want %q", err, tt.message)
			}
		})
	}
}
