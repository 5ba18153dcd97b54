package main

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// configurations are registers too. They are clones of a template, and a change needs
// the version that it changes.
var configurations = kindOfRegister{
	name: "configuration", path: "/api/v1/configurations", list: "configurations", mustMatch: true, deleted: http.StatusNoContent,
	create: func(c *client, ctx context.Context, name string) (request, bool) {
		template := c.template(ctx)
		return request{name: "clone template", method: "POST", path: "/api/v1/templates/" + template + "/clone",
			body: map[string]any{"name": name, "workspaceId": c.home}}, template != ""
	},
}

// template returns the id of a built-in template, or "" when none can be listed now.
func (c *client) template(ctx context.Context) string {
	got := c.reads(ctx, request{name: "list templates", method: "GET", path: "/api/v1/templates?limit=5"}, http.StatusOK)
	var page struct{ Templates []struct{ ID string } }
	if !got.ok() || json.Unmarshal(got.body, &page) != nil || len(page.Templates) == 0 {
		return ""
	}
	return page.Templates[c.random.IntN(len(page.Templates))].ID
}

// compareVersions reads the versions of the configurations of a shelf, and their
// differences.
func (c *client) compareVersions(ctx context.Context, s *shelf) {
	for c.think(ctx, time.Second) {
		s.mu.Lock()
		id := s.slots[c.random.IntN(len(s.slots))].id
		s.mu.Unlock()
		if id == "" {
			continue
		}
		path := configurations.path + "/" + id
		got := c.reads(ctx, request{name: "list versions", method: "GET", path: path + "/versions"}, http.StatusOK, http.StatusNotFound)
		var list struct {
			Versions []struct{ Version int }
		}
		if !got.ok() || json.Unmarshal(got.body, &list) != nil {
			continue
		}
		for i, v := range list.Versions {
			if i > 0 && v.Version != list.Versions[i-1].Version-1 && v.Version != list.Versions[i-1].Version+1 {
				c.violate("the versions of %s are listed as %.300s", id, got.body)
				break
			}
		}
		if len(list.Versions) > 1 {
			c.reads(ctx, request{name: "compare versions", method: "GET", path: path + "/diff?from=1&to=2"}, http.StatusOK, http.StatusNotFound)
		}
	}
}
