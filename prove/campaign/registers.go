package main

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"netsim/prove/history"
)

// kindOfRegister is a kind of resource whose name clients read and write.
type kindOfRegister struct {
	name       string // in the report
	path, list string // of the collection, and of the member of a list that has the items
	mustMatch  bool   // a change requires If-Match
	create     func(c *client, ctx context.Context, name string) (request, bool)
	deleted    int // status of a deletion
}

var workspaces = kindOfRegister{
	name: "workspace", path: "/api/v1/workspaces", list: "workspaces", deleted: http.StatusAccepted,
	create: func(_ *client, _ context.Context, name string) (request, bool) {
		return request{name: "create workspace", method: "POST", path: "/api/v1/workspaces", body: map[string]any{"name": name}}, true
	},
}

// shelf has the few streams that the clients of an account use at the same time. A
// stream is replaced after some writes, so that no history becomes too long to check.
type shelf struct {
	kind kindOfRegister

	mu    sync.Mutex
	slots [3]slot
	old   []string // not deleted, and not written any more
}

type slot struct {
	id     string
	writes int
	known  map[string]string // ETag, by name
}

const writesOfStream = 40

func newShelf(kind kindOfRegister) *shelf { return &shelf{kind: kind} }

// useRegisters reads and writes until the load ends.
func (c *client) useRegisters(ctx context.Context, s *shelf) {
	for c.think(ctx, 80*time.Millisecond) {
		n := c.random.IntN(len(s.slots))
		s.mu.Lock()
		at := &s.slots[n]
		id, full := at.id, at.writes >= writesOfStream
		if full {
			s.slots[n] = slot{}
			if c.random.IntN(2) == 0 {
				s.old = append(s.old, id)
			}
		}
		s.mu.Unlock()
		switch {
		case id == "":
			c.createRegister(ctx, s, n)
		case full:
			if c.random.IntN(2) == 0 {
				c.deleteRegister(ctx, s.kind, id)
			}
		default:
			c.useRegister(ctx, s, n, id)
		}
	}
}

func (c *client) useRegister(ctx context.Context, s *shelf, n int, id string) {
	switch c.random.IntN(10) {
	case 0, 1, 2:
		name, tag := c.readRegister(ctx, s.kind, id)
		s.learn(n, id, name, tag, 0)
	case 3:
		c.listRegisters(ctx, s.kind)
	case 4, 5, 6:
		c.writeRegister(ctx, s, n, id, true)
	default:
		c.writeRegister(ctx, s, n, id, s.kind.mustMatch)
	}
}

// learn stores what a name's ETag is, and counts writes.
func (s *shelf) learn(n int, id, name, tag string, writes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := &s.slots[n]; at.id == id {
		if at.writes += writes; name != "" && tag != "" {
			at.known = map[string]string{name: tag} // the latest
		}
	}
}

func (s *shelf) latest(n int, id string) (name, tag string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := s.slots[n]; at.id == id {
		for name, tag = range at.known {
		}
	}
	return name, tag
}

func (c *client) createRegister(ctx context.Context, s *shelf, n int) {
	name := c.unique(s.kind.name)
	r, possible := s.kind.create(c, ctx, name)
	if !possible {
		return
	}
	got := c.do(ctx, r)
	op := history.Operation{Client: c.id, Kind: history.Create, Call: got.call, Return: got.end, Name: name, Retried: got.retried, Via: got.via}
	switch {
	case got.ok():
		op.Outcome, op.Stream = history.Done, got.text("id")
		c.records.add(op)
		s.mu.Lock()
		if s.slots[n].id == "" {
			s.slots[n] = slot{id: op.Stream, known: map[string]string{name: got.header.Get("ETag")}}
		} else {
			s.old = append(s.old, op.Stream)
		}
		s.mu.Unlock()
	case got.unknown():
		op.Outcome = history.Unknown // its stream is found by its name
		c.records.add(op)
	default:
		c.unexpected(r, got)
	}
}

func (c *client) readRegister(ctx context.Context, kind kindOfRegister, id string) (name, tag string) {
	r := request{name: "read " + kind.name, method: "GET", path: kind.path + "/" + id}
	got := c.do(ctx, r)
	op := history.Operation{Client: c.id, Kind: history.Read, Call: got.call, Return: got.end, Stream: id, Via: got.via}
	switch {
	case got.ok():
		op.Outcome, op.Name = history.Done, got.text("name")
	case got.status == http.StatusNotFound:
		op.Outcome = history.Gone
	case got.unknown():
		return "", ""
	default:
		c.unexpected(r, got)
		return "", ""
	}
	c.records.add(op)
	return op.Name, got.header.Get("ETag")
}

func (c *client) writeRegister(ctx context.Context, s *shelf, n int, id string, conditional bool) {
	name := c.unique(s.kind.name)
	r := request{name: "change " + s.kind.name, method: "PATCH", path: s.kind.path + "/" + id, body: map[string]any{"name": name}}
	op := history.Operation{Client: c.id, Kind: history.Write, Stream: id, Name: name}
	if conditional {
		match, tag := s.latest(n, id)
		if tag == "" {
			return
		}
		op.Match, r.header = match, map[string]string{"If-Match": tag}
	}
	got := c.do(ctx, r)
	op.Call, op.Return, op.Retried, op.Via = got.call, got.end, got.retried, got.via
	switch {
	case got.ok():
		op.Outcome = history.Done
	case got.status == http.StatusPreconditionFailed && conditional:
		op.Outcome = history.Refused
	case got.status == http.StatusNotFound:
		op.Outcome = history.Gone
	case got.unknown(), got.status == http.StatusConflict: // overtaken too often
		op.Outcome = history.Unknown
	default:
		c.unexpected(r, got)
		return
	}
	c.records.add(op)
	tag := got.header.Get("ETag")
	if got.text("name") != name {
		tag = "" // a repeated request is answered with what is there now
	}
	s.learn(n, id, name, tag, 1)
}

func (c *client) deleteRegister(ctx context.Context, kind kindOfRegister, id string) {
	r := request{name: "delete " + kind.name, method: "DELETE", path: kind.path + "/" + id}
	got := c.do(ctx, r)
	op := history.Operation{Client: c.id, Kind: history.Delete, Call: got.call, Return: got.end, Stream: id, Retried: got.retried, Via: got.via}
	switch {
	case got.status == kind.deleted:
		op.Outcome = history.Done
	case got.status == http.StatusNotFound:
		op.Outcome = history.Gone
	case got.unknown(), got.status == http.StatusConflict:
		op.Outcome = history.Unknown
	default:
		c.unexpected(r, got)
		return
	}
	c.records.add(op)
}

// listRegisters reads the newest streams at one instant.
func (c *client) listRegisters(ctx context.Context, kind kindOfRegister) {
	r := request{name: "list " + kind.name + "s", method: "GET", path: kind.path + "?limit=20"}
	got := c.do(ctx, r)
	switch {
	case got.unknown():
		return
	case !got.ok():
		c.unexpected(r, got)
		return
	}
	var page map[string]json.RawMessage
	var items []struct{ ID, Name string }
	if json.Unmarshal(got.body, &page) != nil || json.Unmarshal(page[kind.list], &items) != nil {
		c.violate("GET %s was answered with %.200s", r.path, got.body)
		return
	}
	op := history.Operation{Client: c.id, Kind: history.List, Outcome: history.Done, Call: got.call, Return: got.end, Via: got.via}
	for _, item := range items {
		op.Seen = append(op.Seen, history.Sight{Stream: item.ID, Name: item.Name})
	}
	c.records.add(op)
}
