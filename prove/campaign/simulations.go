package main

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// made are resources that clients have created, and what must be true of them at the end.
type made struct {
	mu  sync.Mutex
	all map[string]*resource // by id
}

type resource struct {
	kind    string
	account string
	deleted bool   // acknowledged
	unsure  bool   // a deletion was sent and its outcome is not known
	content []byte // of an uploaded file
}

func (m *made) add(id string, r *resource) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.all == nil {
		m.all = map[string]*resource{}
	}
	m.all[id] = r
}

func (m *made) update(id string, change func(*resource)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change(m.all[id])
}

// runSimulations starts simulations, follows them, ends some, and deletes some.
func (c *client) runSimulations(ctx context.Context) {
	for c.think(ctx, 800*time.Millisecond) {
		phases := make([]map[string]any, 1+c.random.IntN(3))
		for i := range phases {
			phases[i] = map[string]any{"operationType": "allReduce", "dataSize": 1 << (16 + c.random.IntN(5))}
		}
		r := request{name: "start simulation", method: "POST", path: "/api/v1/simple/simulations", body: map[string]any{
			"name": c.unique("simulation"), "workload": map[string]any{"ranks": 8 << c.random.IntN(3), "phases": phases},
		}}
		got := c.do(ctx, r)
		switch {
		case got.status == http.StatusAccepted:
		case got.unknown(), got.status == http.StatusConflict: // the account was overtaken too often
			continue
		default:
			c.unexpected(r, got)
			continue
		}
		id := got.text("simulationId")
		c.made.add(id, &resource{kind: "simulation", account: c.account})
		if c.random.IntN(5) == 0 {
			c.changes(ctx, request{name: "terminate simulation", method: "POST", path: "/api/v1/simulations/" + id + "/terminate"},
				http.StatusOK, http.StatusAccepted, http.StatusConflict, http.StatusBadRequest)
		}
		for range c.random.IntN(20) {
			got := c.reads(ctx, request{name: "read simulation", method: "GET", path: "/api/v1/simulations/" + id}, http.StatusOK)
			if status := got.text("status"); status == "completed" || status == "failed" || !c.think(ctx, 200*time.Millisecond) {
				break
			}
		}
		c.reads(ctx, request{name: "read results", method: "GET", path: "/api/v1/simulations/" + id + "/results"}, http.StatusOK, http.StatusNotFound, http.StatusConflict)
		c.reads(ctx, request{name: "list simulations", method: "GET", path: "/api/v1/simulations?limit=20"}, http.StatusOK)
		if c.random.IntN(4) == 0 {
			c.deleteResource(ctx, "/api/v1/simulations/", id, http.StatusOK)
		}
	}
}

// deleteResource deletes what the client has made, and remembers whether it is deleted.
func (c *client) deleteResource(ctx context.Context, path, id string, success int) {
	c.made.update(id, func(r *resource) { r.unsure = true })
	r := request{name: "delete " + c.kindOf(id), method: "DELETE", path: path + id}
	got := c.changes(ctx, r, success, http.StatusConflict, http.StatusNotFound)
	if got.status == http.StatusNotFound && !got.retried {
		c.unexpected(r, got)
	}
	c.made.update(id, func(r *resource) {
		switch {
		case got.status == success, got.status == http.StatusNotFound:
			r.deleted, r.unsure = true, false
		case got.status == http.StatusConflict && !got.retried:
			r.unsure = false
		}
	})
}

func (c *client) kindOf(id string) (kind string) {
	c.made.update(id, func(r *resource) { kind = r.kind })
	return kind
}

// changes sends a write whose answer must have one of the statuses, or be unknown.
func (c *client) changes(ctx context.Context, r request, allowed ...int) reply {
	return c.reads(ctx, r, allowed...)
}

// reads sends a request whose answer must have one of the statuses, or be unknown.
func (c *client) reads(ctx context.Context, r request, allowed ...int) reply {
	got := c.do(ctx, r)
	for _, status := range allowed {
		if got.status == status {
			return got
		}
	}
	if !got.unknown() {
		c.unexpected(r, got)
	}
	return got
}
