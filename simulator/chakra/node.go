package chakra

// NodeType says what a node does. The values are the schema's.
type NodeType uint8

// The node types that have a meaning here. Later versions of the schema have others
// (storage, batch, checkpoint), which are not simulated.
const (
	InvalidNode NodeType = iota
	MetadataNode
	MemoryLoadNode
	MemoryStoreNode
	ComputeNode
	SendNode
	ReceiveNode
	CollectiveNode

	lastNodeType NodeType = 10
)

// Collective is the kind of a collective operation. The values are the schema's.
type Collective uint8

// The kinds of collectives. NoCollective stands for a node without comm_type.
const (
	AllReduce Collective = iota
	Reduce
	AllGather
	Gather
	Scatter
	Broadcast
	AllToAll
	ReduceScatter
	ReduceScatterBlock
	Barrier

	NoCollective Collective = 255
)

// String returns the schema's name of the kind.
func (c Collective) String() string {
	if c == NoCollective {
		return "none"
	}
	return [...]string{
		"ALL_REDUCE", "REDUCE", "ALL_GATHER", "GATHER", "SCATTER",
		"BROADCAST", "ALL_TO_ALL", "REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK", "BARRIER",
	}[c]
}

// Role is what a node does in a replay.
type Role uint8

// The roles of nodes.
const (
	Silent  Role = iota // does nothing
	Compute             // takes Duration microseconds of the rank
	Send
	Receive
	Collect // takes part in a collective
)

// Absent stands for a peer or tag that a node does not have.
const Absent = -1 << 63

// Node is one operation of a rank.
type Node struct {
	Offset int64 // of the record, in bytes of the decompressed file
	ID     uint64
	Name   string
	Type   NodeType

	// Data and Control name the nodes of the same file that must be over before
	// this one starts; some may be missing from the file. In collected traces,
	// however, Control names the callers of this node. Callers give no order: some
	// nodes are their own callers, and a caller may itself wait for the nodes that
	// it called.
	Data, Control []uint64

	Start, Duration uint64 // µs
	CPU             bool   // is_cpu_op
	Operations      uint64 // num_ops: floating-point operations
	TensorSize      uint64 // tensor_size: bytes

	// For communications only.
	Collective          Collective // comm_type of a CollectiveNode, or NoCollective
	Size                uint64     // comm_size: bytes
	Source, Destination int64      // comm_src, comm_dst: ranks, or Absent
	Tag                 int64      // comm_tag, or Absent
	Priority            int64      // comm_priority
	Group               string     // pg_name: the process group, or empty for all ranks
}

// Role returns what the node does in a replay. A collective without a kind is the CPU
// side of another node's collective: it computes.
func (n *Node) Role() Role {
	switch n.Type {
	case ComputeNode:
		return Compute
	case SendNode:
		return Send
	case ReceiveNode:
		return Receive
	case CollectiveNode:
		if n.Collective == NoCollective {
			return Compute
		}
		return Collect
	default:
		return Silent
	}
}

// Metadata is the metadata of a file.
type Metadata struct {
	Version string // of the format; often empty
	Schema  string // of the trace from which it was converted; often empty
}
