// Package readapi implements the operations that change no resource. It reads the
// read model and the object store, in which it also stores computed summaries of
// results. It appends no event itself; Billing.LogAccess records queries by a
// person's name. It also makes the views that package writeapi returns.
package readapi

import (
	"context"
	"io"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"netsim/commands"
	"netsim/events"
	"netsim/infra/health"
	"netsim/infra/objects"
	"netsim/infra/web"
	"netsim/projections"
	"netsim/readapi/access"
	"netsim/simulator/chakra"
)

// API implements all operations of the package except those of billing. It also
// makes the views that package writeapi returns.
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

	Followers      *Followers    // wakes the followers of simulations
	StudyFollowers *Followers    // wakes the followers of studies
	Heartbeat      time.Duration // interval of a stream's heartbeats, 0 for 15 s

	summaries singleflight.Group // running computations, by object key
	timelines sync.Mutex         // held while a timeline is in memory
}

// view returns a resource and its entity tag as they are right after a command's
// event; state is the write state after the event. Without an event it returns them
// as they are now.
type view[V any] = func(ctx context.Context, e *events.Event, state commands.State) (V, string, error)

// Objects is the object store with the result files.
type Objects interface {
	Get(ctx context.Context, key string) (io.ReadCloser, objects.Info, error)
	Put(ctx context.Context, key, contentType string, r io.Reader) (objects.Stored, error)
	PresignGet(ctx context.Context, key, fileName, contentType string, life time.Duration) (objects.Link, error)
}
