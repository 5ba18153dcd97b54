package commands

import (
	"context"

	"netsim/events"
)

// Log is what Handle needs of the log and of its verdicts.
type Log interface {
	// Load returns where a stream stands in the read model and, when
	// commandID is not empty, the fact that an earlier run of the same
	// command left on it.
	Load(ctx context.Context, stream, commandID string) (Snapshot, error)
	// Append puts a message at the end of the partition of its key, behind
	// every earlier Append. It does not wait.
	Append(family events.Family, partitionKey string, m events.Message) (Appended, error)
	// Verdict waits until the record at the position has been judged.
	Verdict(ctx context.Context, at Position) (events.Verdict, error)
}

// Appended is an append under way.
type Appended interface {
	// Wait returns the position of the record. An error wrapping
	// ErrUnwritten says that it is certainly not in the log; with any other
	// error it may be.
	Wait(ctx context.Context) (Position, error)
}

// Position is a record's place in the log.
type Position struct {
	Family    events.Family
	Partition int32
	Offset    int64
}

// Snapshot is a stream as the read model has it.
type Snapshot struct {
	Head   events.Head
	State  []byte
	Parked bool   // an event of the stream waits for a fix
	Prior  *Prior // the command's earlier fact, if any
}

// Prior is the fact that a command left when it ran before.
type Prior struct {
	Sequence int64
	Digest   string
}
