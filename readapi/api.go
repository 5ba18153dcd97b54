// Package readapi implements the operations that change nothing. It reads the
// read model and the object store, and never appends an event. It also makes the
// views that package writeapi returns.
package readapi

import (
	"context"
	"io"
	"time"

	"golang.org/x/sync/singleflight"

	"netsim/access"
	"netsim/commands"
	"netsim/events"
	"netsim/infra/health"
	"netsim/infra/objects"
	web "netsim/infra/web"
	"netsim/projections"
	"netsim/simulator/chakra"
)

// API implements the GET operations except those of billing, the preview of a
// simple submission, and the views that package writeapi returns.
type API struct {
	*access.Access

	Cursors    *web.Cursors
	Objects    Objects
	Now        func() time.Time
	Build      Build
	Health     *health.Checks
	ConsoleURL string // absolute, without a trailing slash; "" when there is no console
	// ResultsOwnership restricts results to callers who may read the simulation.
	ResultsOwnership bool
	Storage          Storage
	// Inspect reads the traces of a traceset and reports what is wrong with them.
	Inspect func(ctx context.Context, t *projections.Traceset) (*chakra.Report, error)

	Feed      *Feed         // wakes the followers of simulations
	Heartbeat time.Duration // interval of a stream's heartbeats, 0 for 15 s

	summaries singleflight.Group // running computations, by object key
}

// view returns a resource and its entity tag right after a command's event, which
// led to the state. Without an event it returns them as they are now.
type view[V any] = func(ctx context.Context, e *events.Event, state commands.State) (V, string, error)

// Objects is the object store with the result files.
type Objects interface {
	Get(ctx context.Context, key string) (io.ReadCloser, objects.Info, error)
	Put(ctx context.Context, key, contentType string, r io.Reader) (objects.Stored, error)
	PresignGet(ctx context.Context, key, fileName, contentType string, life time.Duration) (objects.Link, error)
}
