package program

import (
	"context"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"netsim/api"
	web "netsim/infra/http"
	"netsim/readapi"
	"netsim/writeapi"
)

type rest struct{ api.StrictServerInterface }

type unserved struct{ rest }

// handlers is the contract's server: each operation comes from one of these.
type handlers struct {
	*readapi.API
	write
	unserved
}

type write struct{ *writeapi.API }

func (s *core) api(ctx context.Context) (http.Handler, error) {
	keys, err := cursorKeys(ctx, s.pool)
	if err != nil {
		return nil, err
	}
	cursors, err := web.NewCursors(keys, time.Now)
	if err != nil {
		return nil, err
	}
	reads := &readapi.API{DB: s.pool, Cursors: cursors, Objects: s.objects, Now: time.Now}
	writes := &writeapi.API{Commands: s.handler, Workspaces: reads}
	door, err := s.door()
	if err != nil {
		return nil, err
	}
	return door.router(handlers{API: reads, write: write{writes}}), nil
}

func (s *core) startBackground(context.Context, *errgroup.Group) error { return nil }
func (s *core) seedPrices(context.Context) error                       { return nil }
