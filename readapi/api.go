// Package readapi answers the operations that change nothing: it reads the
// read model and the object store, and never appends. What a write needs to
// know of the read model, before it decides and for its answer, it asks here.
package readapi

import (
	"context"
	"io"
	"time"

	"golang.org/x/sync/singleflight"

	"netsim/access"
	"netsim/infra/health"
	"netsim/infra/objects"
	web "netsim/infra/web"
	"netsim/projections"
	"netsim/simulator/chakra"
)

// API has the GET operations but billing's, the preview of a simple
// submission, and the views that package writeapi asks for.
type API struct {
	*access.Access

	Cursors    *web.Cursors
	Objects    Objects
	Now        func() time.Time
	Build      Build
	Health     *health.Checks
	ConsoleURL string // absolute, without a slash at the end; empty when there is no console
	// ResultsOwnership keeps results to callers who may read the simulation.
	ResultsOwnership bool
	Storage          Storage
	// Inspect reads the traces of a traceset and says what is wrong with them.
	Inspect func(ctx context.Context, t *projections.Traceset) (*chakra.Report, error)

	Feed      *Feed         // of who follows simulations
	Heartbeat time.Duration // between two signs of life of a stream, 0 for 15 s

	summaries singleflight.Group // computations under way, by object key
}

// Objects is the store that result files are in.
type Objects interface {
	Get(ctx context.Context, key string) (io.ReadCloser, objects.Info, error)
	Put(ctx context.Context, key, contentType string, r io.Reader) (objects.Stored, error)
	PresignGet(ctx context.Context, key, fileName, contentType string, life time.Duration) (objects.Link, error)
}
