package service_test

import (
	"log/slog"
	"strings"
	"testing"

	"netsim/cmd/operate"
	"netsim/events"
	"netsim/infra/devissuer"
	"netsim/internal/servicetest"
)

// TestPersonsAreForgotten: the log never contains the subject of a token, which may be an
// e-mail address. Responses show the name from the directory until it is removed.
func TestPersonsAreForgotten(t *testing.T) {
	t.Parallel()
	const address = "ada.lovelace@example.com"
	p := servicetest.Shared(t)
	account := servicetest.NewAccount()
	ada := p.Client(t, devissuer.Options{Service: true, User: address, Account: account})
	twin := p.Client(t, devissuer.Options{Service: true, User: address, Account: servicetest.NewAccount()})
	w := ada.Post("/api/v1/workspaces", map[string]any{"name": "engines"}).Want(201).Object()
	owner := w["owner"].(string)
	if !events.ValidID(events.UserPrefix, owner) {
		t.Errorf("the owner is %q, want an opaque id", owner)
	}
	if other := twin.Post("/api/v1/workspaces", map[string]any{"name": "engines"}).Want(201).Object()["owner"]; other == owner {
		t.Error("one person has the same id in two accounts")
	}
	if list := ada.Get("/api/v1/workspaces?owner=" + owner).Want(200).Object()["workspaces"].([]any); len(list) != 1 {
		t.Errorf("the owner has %d workspaces, want 1", len(list))
	}
	costs := func() string {
		items := ada.Eventually("/api/v1/billing/items", func(r servicetest.Reply) bool { return strings.Contains(string(r.Body), owner) })
		return string(items.Body)
	}
	if !strings.Contains(costs(), address) { // the subject is the name of a token without a name
		t.Errorf("the directory has no name for %s", owner)
	}
	for _, r := range accountRecords(t, p, account) {
		if text, err := events.Encode(r.data); err != nil || strings.Contains(string(text), "lovelace") {
			t.Errorf("the log has %s, %v", text, err)
		}
	}

	tools, err := operate.OpenTools(t.Context(), p.Config, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer tools.Close()
	if found, err := tools.ForgetUser(t.Context(), owner); err != nil || !found {
		t.Fatalf("ForgetUser: got %v, %v; want true", found, err)
	}
	if found, err := tools.ForgetUser(t.Context(), owner); err != nil || found {
		t.Errorf("ForgetUser again: got %v, %v; want false", found, err)
	}
	if body := costs(); strings.Contains(body, address) {
		t.Errorf("after the removal a response has the name: %s", body)
	}
}
