package export

import (
	"context"
	"io"
)

// Target is where an export's files are. Names are without slashes.
type Target interface {
	// Begin makes the target ready, and refuses one that another export writes to.
	Begin(ctx context.Context) error
	// Names lists the files of the target, the manifest too.
	Names(ctx context.Context) ([]string, error)
	// Open opens a file, fault.NotFound when there is none.
	Open(ctx context.Context, name string) (io.ReadCloser, error)
	// Replace writes a small file. At any time there is the previous or the new one.
	Replace(ctx context.Context, name string, content []byte) error
	// Create begins a file, which gets its name when it is complete.
	Create(ctx context.Context) (Draft, error)
	Remove(ctx context.Context, name string) error
	// Close ends the use of the target.
	Close() error
}

// Draft is a file that is being written.
type Draft interface {
	io.Writer
	// Finish makes the file durable under its name. It replaces an earlier one.
	Finish(ctx context.Context, name string) error
	// Discard removes the draft. After Finish it does nothing.
	Discard()
}
