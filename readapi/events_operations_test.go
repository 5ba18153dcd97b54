package readapi_test

import (
	"log/slog"
	"strings"
	"testing"

	"netsim/cmd/operate"
	"netsim/events"
	"netsim/infra/auth"
	"netsim/infra/devissuer"
	"netsim/internal/servicetest"
)

// TestOnlyThePlatformSeesOperations: the commands of operators are in the feed of the
// platform's operator, by stream too, and in that of no account.
func TestOnlyThePlatformSeesOperations(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t)
	tools, err := operate.OpenTools(t.Context(), p.Config, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tools.Close)
	o := operate.Operation{Command: "readmodel drop"}
	if err := tools.Record(t.Context(), o, func(reason string) { t.Error(reason) }, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	const since = "?since=2026-01-01T00:00:00Z"
	platform := p.Client(t, devissuer.Options{Service: true, User: "operator", Account: auth.AllAccounts})
	begun := followEvents(t, platform, since+"&type=netsim.operation.begun.v1").next()
	both := followEvents(t, platform, since+"&stream="+begun.Subject).take(2)
	if both[0].String() != begun.String() || both[1].Type != "netsim.operation.ended.v1" || both[1].Subject != begun.Subject {
		t.Errorf("the stream has %v, want the begin and the end of the operation", both)
	}
	account := servicetest.NewAccount()
	service := p.Service(t, account)
	follower := followEvents(t, service, since)
	workspace := service.Post("/api/v1/workspaces", map[string]any{"name": "w"}).Want(201).Object()["id"]
	for one := follower.next(); one.Subject != workspace; one = follower.next() { // the price list comes first
		if strings.HasPrefix(one.Subject, events.OperationPrefix+"_") {
			t.Errorf("an account sees %v", one)
		}
	}
}
