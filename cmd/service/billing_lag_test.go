package service_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"netsim/cmd/settings"
	"netsim/internal/servicetest"
)

// TestBillingReportsItsLag: without a reactor process the lag grows. With a reactor the
// lag becomes 0, and then billing includes every earlier write.
func TestBillingReportsItsLag(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t, func(c *settings.Config) {
		c.Roles = slices.DeleteFunc(c.Roles, func(role string) bool { return role == settings.RoleReactor })
	})
	account := servicetest.NewAccount()
	client := p.Service(t, account)
	lag := func(r servicetest.Reply) int64 {
		ms, err := strconv.ParseInt(r.Header.Get("X-Billing-Lag-Ms"), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return ms
	}
	create := func(name string) (id string) {
		return client.Post("/api/v1/workspaces", object{"name": name}).Want(201).Text("id")
	}
	create("first")
	last := int64(0)
	for range 3 {
		last = lag(client.Eventually("/api/v1/billing/items", func(r servicetest.Reply) bool { return lag(r) > last }))
	}
	if items := client.Get("/api/v1/billing/items").Object()["items"].([]any); len(items) != 0 {
		t.Errorf("without a reactor there are items %v, want none", items)
	}
	servicetest.Start(t, func(c *settings.Config) {
		*c = p.Config
		c.Roles = []string{settings.RoleReactor}
	})
	for i := range 5 {
		id := create("workspace " + strconv.Itoa(i))
		r := client.Eventually("/api/v1/billing/items", func(r servicetest.Reply) bool { return lag(r) == 0 })
		if !strings.Contains(string(r.Body), id) {
			t.Errorf("the lag is 0, but the item of %s is missing: %s", id, r.Body)
		}
	}
	for _, path := range []string{"balance", "costs?startDate=2026-01-01&endDate=2026-01-02", "costs/summary?startDate=2026-01-01&endDate=2026-01-02", "events", "rates"} {
		if ms := lag(client.Get("/api/v1/billing/" + path).Want(200)); ms < 0 {
			t.Errorf("%s: lag %d, want at least 0", path, ms)
		}
	}
}
