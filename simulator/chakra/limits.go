package chakra

import "fmt"

// Limits bound the cost of reading a file. A zero field means its default.
type Limits struct {
	Bytes     int64 // of the decompressed file: 64 GB
	Ratio     int64 // of decompressed to compressed bytes, past the first 16 MiB: 256
	Record    int   // bytes of the metadata, or of one node: 16 MiB
	Attribute int   // bytes of one attribute: 1 MiB
	Nodes     int64 // of a file: 64 million
	Tangle    int   // nodes and dependencies out of order, see Inspect: 8 million
}

func (l Limits) withDefaults() Limits {
	set(&l.Bytes, 64_000_000_000)
	set(&l.Ratio, 256)
	set(&l.Record, 16<<20)
	set(&l.Attribute, 1<<20)
	set(&l.Nodes, 64_000_000)
	set(&l.Tangle, 8_000_000)
	return l
}

func set[N int | int64](limit *N, value N) {
	if *limit == 0 {
		*limit = value
	}
}

// Error says why a file cannot be read as a trace. Its text is safe to show to the
// client.
type Error struct {
	Offset int64  // of the record at fault, in bytes of the decompressed file
	Record int64  // 0 for the metadata, k for the k-th node, -1 for the whole file
	Node   uint64 // its id, if HasID
	HasID  bool   // the id was read before the fault
	Reason string
}

func (e *Error) Error() string {
	switch {
	case e.HasID:
		return fmt.Sprintf("node %d at byte %d: %s", e.Node, e.Offset, e.Reason)
	case e.Record > 0:
		return fmt.Sprintf("node number %d at byte %d: %s", e.Record, e.Offset, e.Reason)
	case e.Record == 0:
		return fmt.Sprintf("metadata at byte %d: %s", e.Offset, e.Reason)
	default:
		return e.Reason
	}
}

// refusal is the reason of an Error before the reader adds the position; fileRefusal
// is the reason of an Error about the whole file.
type (
	refusal     string
	fileRefusal string
)

func (r refusal) Error() string     { return string(r) }
func (r fileRefusal) Error() string { return string(r) }

func refuse(format string, args ...any) error { return refusal(fmt.Sprintf(format, args...)) }
