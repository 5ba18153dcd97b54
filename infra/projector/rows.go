package projector

import (
	"time"

	"netsim/infra/columns"
)

// recordAt is the position of a record in the log.
type recordAt struct {
	Family    string
	Partition int32
	Offset    int64
}

// A commandRow is a row of command_ids.
type commandRow struct {
	Stream    string
	CommandID string
	Sequence  int64
	Digest    string
}

// A factRow is a row of facts.
type factRow struct {
	Stream        string
	Family        string
	Partition     int32
	Sequence      int64
	Offset        int64
	Bytes         int32
	HappenedAt    time.Time
	CorrelationID string
}

// A rejectedRow is a row of rejected.
type rejectedRow struct {
	recordAt

	Verdict string
	Stream  string
	EventID string
}

// A parkedRow is a row of parked.
type parkedRow struct {
	recordAt

	Stream    string
	Sequence  int64
	EventType string
	Reason    string
}

// A streamRow is a row of streams. The first three columns are its key.
type streamRow struct {
	Stream    string
	Family    string
	Partition int32
	Sequence  int64
	Hash      []byte
	State     *string
	Parked    bool
}

// An offsetMove moves a row of offsets if its next is Expected.
type offsetMove struct {
	Family     string
	Partition  int32
	Expected   int64 // next before the batch
	Next       int64
	LastRecord []byte
	Facts      int64
	Digest     []byte
	Sealing    string
	Epoch      int64 // of the lease; 0 for none
}

// A committedOffset is how far this process has committed a partition.
type committedOffset struct {
	Family    string
	Partition int32
	Next      int64
}

var (
	commandColumns         = columns.Of[commandRow]()
	factColumns            = columns.Of[factRow]()
	rejectedColumns        = columns.Of[rejectedRow]()
	parkedColumns          = columns.Of[parkedRow]()
	streamColumns          = columns.Of[streamRow]()
	offsetMoveColumns      = columns.Of[offsetMove]()
	committedOffsetColumns = columns.Of[committedOffset]()
)
