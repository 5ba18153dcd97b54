package writeapi_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/api"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/infra/auth"
	"netsim/internal/testworld"
	"netsim/projections"
	"netsim/readapi"
	"netsim/readapi/access"
	"netsim/writeapi"
)

// counter counts the queries of a request: those of reads, and the log's loads.
type counter struct {
	projections.Reader
	handle.Log

	judged        atomic.Bool // whether there has been a verdict
	before, after atomic.Int64
}

func (c *counter) count() {
	if c.judged.Load() {
		c.after.Add(1)
	} else {
		c.before.Add(1)
	}
}

// Query implements projections.Reader.
func (c *counter) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	c.count()
	return c.Reader.Query(ctx, sql, args...)
}

// QueryRow implements projections.Reader.
func (c *counter) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	c.count()
	return c.Reader.QueryRow(ctx, sql, args...)
}

// Load implements handle.Log.
func (c *counter) Load(ctx context.Context, stream, commandID string) (events.Snapshot, error) {
	c.count()
	return c.Log.Load(ctx, stream, commandID)
}

// Verdict implements handle.Log.
func (c *counter) Verdict(ctx context.Context, at events.Position) (events.Verdict, error) {
	defer c.judged.Store(true)
	return c.Log.Verdict(ctx, at)
}

// TestQueriesOfAWrite checks how many queries a write sends before the verdict on
// its event, and how many after it for its answer.
func TestQueriesOfAWrite(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	c := &counter{Reader: w.DB, Log: w.WriteLog}
	get := &readapi.API{Access: &access.Access{DB: c, Rows: projections.NewLookups(c)}}
	change := writeapi.API{Commands: &handle.Handler{Log: c, Now: time.Now}, Views: get}
	ctx := auth.WithCaller(t.Context(), auth.Caller{UserID: "u", AccountID: testworld.Account, AllWorkspaces: true})
	var workspace, configuration string
	document := func(workspace string) *api.ConfigurationCreate {
		return &api.ConfigurationCreate{Name: "c", WorkspaceID: workspace, Topology: api.Topology{Type: api.TopologyTypeClos, TopologyTiers: 1}}
	}
	create := func(key, in string) func() error {
		return func() error {
			r, err := change.CreateConfiguration(ctx, api.CreateConfigurationRequestObject{
				Params: api.CreateConfigurationParams{IdempotencyKey: key}, Body: document(in),
			})
			if err == nil {
				configuration = r.(api.CreateConfiguration201JSONResponse).Body.ID
			}
			return err
		}
	}
	createWorkspace := func(key string) func() error {
		return func() error {
			r, err := change.CreateWorkspace(ctx, api.CreateWorkspaceRequestObject{
				Params: api.CreateWorkspaceParams{IdempotencyKey: key}, Body: &api.WorkspaceCreate{Name: "w"},
			})
			if err == nil {
				workspace = r.(api.CreateWorkspace201JSONResponse).Body.ID
			}
			return err
		}
	}
	for _, step := range []struct {
		write         string
		before, after int64
		do            func() error
	}{
		{"a workspace", 0, 0, createWorkspace("")},
		{"a workspace with a key", 1, 0, createWorkspace("k")},                                    // the load
		{"the same again", 3, 0, createWorkspace("k")},                                            // the load, row and counts
		{"a configuration of the default workspace", 0, 0, create("", "")},                        // none
		{"a configuration of a workspace", 1, 0, func() error { return create("", workspace)() }}, // access
		{"the same with a key", 3, 0, func() error { return create("k", workspace)() }},           // whether it is a repetition, access, the load
		{"a change of a workspace", 2, 1, func() error { // access, the load; the counts
			_, err := change.UpdateWorkspace(ctx, api.UpdateWorkspaceRequestObject{WorkspaceID: workspace, Body: &api.WorkspaceUpdate{Name: "x"}})
			return err
		}},
		{"a change of a configuration", 2, 0, func() error { // access, the load
			_, err := change.UpdateConfiguration(ctx, api.UpdateConfigurationRequestObject{
				ConfigID: configuration, Params: api.UpdateConfigurationParams{IfMatch: "*"}, Body: &api.ConfigurationUpdate{Name: []byte(`"x"`)},
			})
			return err
		}},
	} {
		c.judged.Store(false)
		c.before.Store(0)
		c.after.Store(0)
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.write, err)
		}
		if before, after := c.before.Load(), c.after.Load(); before != step.before || after != step.after {
			t.Errorf("%s sends %d queries before the verdict and %d after it, want %d and %d", step.write, before, after, step.before, step.after)
		}
	}
}
