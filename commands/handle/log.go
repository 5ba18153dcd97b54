package handle

import (
	"context"

	"netsim/events"
)

// Log is what a Handler needs of the log and of its verdicts.
type Log interface {
	// Load returns where a stream stands in the read model and, when
	// commandID is not empty, the fact that an earlier run of the same
	// command left on it.
	Load(ctx context.Context, stream, commandID string) (events.Snapshot, error)
	// Append puts a message at the end of the partition of its key, behind
	// every earlier Append, and does not wait; ctx only says for whom. The returned function waits for
	// its place. A fault says what is known; after any other error the message
	// may be in the log or not.
	Append(ctx context.Context, family events.Family, partitionKey string, m events.Message) (Wait, error)
	// Verdict waits until the record at the position has been judged.
	Verdict(ctx context.Context, at events.Position) (events.Verdict, error)
}

// Wait waits for an append to have its place in the log.
type Wait = func(ctx context.Context) (events.Position, error)
