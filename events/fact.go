package events

import "time"

// Fact is an event at its place in the log, judged and accepted.
type Fact struct {
	Event
	Family     Family
	Partition  int32
	Offset     int64
	RecordedAt time.Time // when the log took it
}

// Position is a record's place in the log.
type Position struct {
	Family    Family
	Partition int32
	Offset    int64
}

// Snapshot is a stream as the read model has it.
type Snapshot struct {
	Head   Head
	State  []byte // folded state as JSON; nil when there is none
	Parked bool   // an event of the stream waits for a fix
	Prior  *Prior // the command's earlier fact, if any
}

// Prior is the fact that a command left when it ran before.
type Prior struct {
	Sequence int64
	Digest   string // of the request's body
}
