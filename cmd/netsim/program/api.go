package program

import (
	"context"
	"net/http"
	"time"

	"netsim/events"
	web "netsim/infra/http"
	"netsim/projections"
	"netsim/reactions"
	"netsim/readapi"
	"netsim/writeapi"
)

// handlers is the contract's server: each operation comes from one of these.
type handlers struct {
	*reads
	*writes
	*readapi.Billing
}

type (
	reads  = readapi.API
	writes = writeapi.API
)

// api makes the handler of the API's listener.
func (s *core) api(ctx context.Context, d *domain, feed *readapi.Feed) (http.Handler, error) {
	keys, err := cursorKeys(ctx, s.pool)
	if err != nil {
		return nil, err
	}
	cursors, err := web.NewCursors(keys, time.Now)
	if err != nil {
		return nil, err
	}
	get := &readapi.API{
		DB: s.pool, Rows: projections.NewLookups(s.pool), Cursors: cursors, Objects: s.objects, Now: time.Now, ConsoleURL: s.config.Console, TraceRoutes: s.config.TraceRoutes,
		Storage: readapi.Storage{Bucket: s.config.S3Bucket, Mount: s.config.MountRoot}, Inspect: s.inspect,
		Build:  readapi.Build{Version: s.build.Version, Commit: s.build.Commit, StartedAt: s.startedAt},
		Health: &s.health, Feed: feed,
	}
	change := &writeapi.API{
		Commands: s.handler, Workspaces: get, Configurations: get, Simulations: get, Tracesets: get, TracesetFiles: get, TracesetOwners: get, MappingFiles: get, Templates: get,
		Sessions: d.uploads, Completions: d.uploads, Direct: d.uploads, Uploaded: get, Engines: d.engines, MaxFiles: s.config.MaxFiles,
		Hold: d.billing.Hold, TracesetID: reactions.SimpleTracesetID, Unfold: d.simple.Unfold,
	}
	books := &readapi.Billing{
		DB: s.pool, Cursors: cursors, Now: time.Now,
		Platform: s.config.Platform, Postpaid: d.billing.Postpaid, LogAccess: d.billing.LogAccess,
	}
	door, err := s.door()
	if err != nil {
		return nil, err
	}
	return door.router(handlers{get, change, books}), nil
}

// feed tells who follows simulations.
func (s *core) feed() *readapi.Feed {
	return &readapi.Feed{DB: s.pool, Log: s.log, Changes: func() (<-chan struct{}, func()) {
		return s.watcher.Changes(events.Simulations, events.Workspaces)
	}}
}
