package events

import "time"

// Fact is an accepted event with its position in the log.
type Fact struct {
	Event
	Family     Family
	Partition  int32
	Offset     int64
	RecordedAt time.Time // when the broker appended it (LogAppendTime)
}

// Position is the position of a record in the log.
type Position struct {
	Family    Family
	Partition int32
	Offset    int64
}

// Snapshot is the state of a stream in the read model.
type Snapshot struct {
	Head   Head
	State  []byte // folded state as JSON; nil when there is none
	Parked bool   // an event of the stream cannot be applied until a fix
	Prior  *Prior // the command's earlier fact, if any
}

// Prior is the fact of an earlier run of a command.
type Prior struct {
	Sequence int64
	Digest   string // of the request's body
}
