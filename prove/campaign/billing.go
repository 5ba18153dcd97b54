package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// readBilling reads what the account has to pay.
func (c *client) readBilling(ctx context.Context) {
	today := time.Now().UTC().Format(time.DateOnly)
	for c.think(ctx, time.Second) {
		for _, path := range []string{"balance", "costs?startDate=" + today + "&endDate=" + today, "events?limit=20", "rates"} {
			c.reads(ctx, request{name: "read billing", method: "GET", path: "/api/v1/billing/" + path}, http.StatusOK)
		}
		_, _ = c.walk(ctx, "/api/v1/billing/items", "items", "billingItemId")
	}
}

// walk reads a whole list by its cursors, and returns the ids of its items. It
// reports false when a page could not be read. An item that comes twice is a violation.
func (c *client) walk(ctx context.Context, path, member, id string) (ids []string, whole bool) {
	seen := map[string]bool{}
	cursor := ""
	for range 10_000 {
		query := url.Values{"limit": {"50"}}
		if cursor != "" {
			query.Set("next", cursor)
		}
		got := c.reads(ctx, request{name: "walk list", method: "GET", path: path + "?" + query.Encode()}, http.StatusOK)
		if !got.ok() {
			return ids, false
		}
		var page map[string]json.RawMessage
		var items []map[string]any
		var pagination struct {
			HasMore bool
			Next    string `json:"nextCursor"`
		}
		if json.Unmarshal(got.body, &page) != nil || json.Unmarshal(page[member], &items) != nil || json.Unmarshal(page["pagination"], &pagination) != nil {
			c.violate("GET %s was answered with %.300s", path, got.body)
			return ids, false
		}
		for _, item := range items {
			text := fmt.Sprint(item[id])
			if seen[text] {
				c.violate("GET %s lists %s twice", path, text)
			}
			seen[text] = true
			ids = append(ids, text)
		}
		if cursor = pagination.Next; !pagination.HasMore || cursor == "" {
			return ids, true
		}
	}
	return ids, false
}
