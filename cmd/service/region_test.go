package service_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/api/contract"
	"netsim/cmd/settings"
	"netsim/infra/auth"
	"netsim/infra/devissuer"
	"netsim/infra/eventlog"
	"netsim/infra/replicas"
	"netsim/internal/servicetest"
	"netsim/internal/teststack"
)

// startRegion starts a deployment that only reads, with a database of its own, on the log
// of the program.
func startRegion(t *testing.T, p *servicetest.Program) *servicetest.Program {
	t.Helper()
	return servicetest.StartLogged(t, slog.New(slog.DiscardHandler), func(c *settings.Config) {
		*c = p.Config
		c.Postgres, c.Standbys = teststack.Postgres(t), ""
		c.ReadOnly, c.Roles, c.PrimaryURL = true, []string{settings.RoleAPI, settings.RoleProjector}, p.URL
	})
}

// TestARegionOnlyReads: a deployment with a database of its own answers reads with the
// token of the other deployment's writes as that one does, byte for byte, continues its
// lists, and refuses every write, which leaves nothing in the log.
func TestARegionOnlyReads(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t, func(c *settings.Config) {
		c.Roles = []string{settings.RoleAPI, settings.RoleProjector} // nothing writes by itself
		c.TokenTimeout, c.ReadTimeout = time.Minute, 2*time.Minute
	})
	seeded := endOfLog(t, p)
	region := startRegion(t, p)
	if now := endOfLog(t, p); now != seeded {
		t.Errorf("the log has %d records after the start of the region, want %d as before", now, seeded)
	}
	account := servicetest.NewAccount()
	here, there := p.Service(t, account), region.Client(t, devissuer.Options{Service: true, User: "robot", Account: account, Roles: []string{auth.OperatorRole}})
	var token, path string
	for _, name := range []string{"one", "two", "three"} {
		made := here.Post("/api/v1/workspaces", map[string]any{"name": name}).Want(201)
		token, path = made.Token(), made.Header.Get("Location")
		got := there.Get(path, servicetest.Header{Name: replicas.Header, Value: token}).Want(200)
		own := here.Get(path).Want(200)
		if diff := cmp.Diff(string(own.Body), string(got.Body)); diff != "" || own.Header.Get("ETag") != got.Header.Get("ETag") {
			t.Errorf("the region shows another workspace (ETag %s, want %s):\n%s", got.Header.Get("ETag"), own.Header.Get("ETag"), diff)
		}
	}
	var page struct {
		Pagination struct{ NextCursor string }
		Workspaces []struct{ Name string }
	}
	here.Get("/api/v1/workspaces?limit=1").Want(200).Into(&page)
	there.Get("/api/v1/workspaces?limit=1&next=" + page.Pagination.NextCursor).Want(200).Into(&page)
	if len(page.Workspaces) != 1 || page.Workspaces[0].Name != "two" {
		t.Errorf("the second page in the region is %v, want the workspace two", page.Workspaces)
	}
	terms, err := contract.Load()
	if err != nil {
		t.Fatal(err)
	}
	before := endOfLog(t, p)
	refused := 0
	for _, op := range terms.Operations() {
		if (op.Method == "GET" || op.Access.Reads) && !op.Access.Records && !op.Access.Primary {
			continue
		}
		refused++
		want := "this deployment only reads; send the request to " + p.URL
		if got := there.Do(op.Method, examplePath(op), nil).Refused(403, "FORBIDDEN"); got != want {
			t.Errorf("%s: %q, want %q", op.ID, got, want)
		}
	}
	if refused < 40 {
		t.Errorf("%d operations were refused, want at least 40", refused)
	}
	if now := endOfLog(t, p); now != before {
		t.Errorf("the log has %d records, want %d: the region has written", now, before)
	}
}

// endOfLog returns how many records the log of the program has.
func endOfLog(t *testing.T, p *servicetest.Program) (records int64) {
	t.Helper()
	log, err := eventlog.Open(t.Context(), eventlog.Config{Brokers: p.Config.Kafka, Prefix: p.Config.TopicPrefix, Relaxed: true})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	at, err := log.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, topic := range at.Topics {
		for _, part := range topic.Partitions {
			records += part.End
		}
	}
	return records
}
