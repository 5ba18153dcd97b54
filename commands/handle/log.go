package handle

import (
	"context"

	"netsim/events"
)

// Log is the log, with its verdicts.
type Log interface {
	// Load returns a stream's head and state in the read model and, when
	// commandID is not empty, the fact of an earlier run of the same command.
	Load(ctx context.Context, stream, commandID string) (events.Snapshot, error)
	// Append queues a message for the partition of its key, behind every earlier
	// Append. It uses the values of ctx, but not its cancellation. The returned
	// function waits for the position. If its error is a fault, the fault says
	// what is known about the message; after any other error the message may be
	// in the log.
	Append(ctx context.Context, family events.Family, partitionKey string, m events.Message) (Wait, error)
	// Verdict waits until the record at the position has been judged.
	Verdict(ctx context.Context, at events.Position) (events.Verdict, error)
}

// Wait waits for the position of an appended message.
type Wait = func(ctx context.Context) (events.Position, error)
