package service_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"netsim/cmd/settings"
	"netsim/events"
	"netsim/internal/servicetest"
	"netsim/internal/teststack"
)

// TestALostDatabaseIsRebuilt starts the service on the same log with an empty database.
// The rebuilt read model is equal byte for byte, and the service reads and writes as
// before.
func TestALostDatabaseIsRebuilt(t *testing.T) {
	t.Parallel()
	var before map[string][]string
	var c settings.Config
	account := servicetest.NewAccount()
	var simulation string
	t.Run("before", func(t *testing.T) {
		p := servicetest.Start(t, func(own *settings.Config) {
			own.TopicPrefix = events.NewID("kept") + "."
			own.AuditKey = "" // no log checkpoint may be published between the two reads
			c = *own
		})
		p.Grant(t, account, "1000")
		user, client := p.User(t, account), p.Service(t, account)
		for i := range 20 {
			id := client.Post("/api/v1/workspaces", map[string]any{"name": fmt.Sprint("workspace ", i)}).Want(201).Object()["id"].(string)
			if i%3 == 0 {
				client.Patch("/api/v1/workspaces/"+id, map[string]any{"name": fmt.Sprint("renamed ", i)}).Want(200)
			}
			if i%5 == 0 {
				client.Delete("/api/v1/workspaces/" + id).Want(202)
			}
		}
		simulation = user.Post("/api/v1/simple/simulations", servicetest.SimpleSubmission(8)).Want(202).Object()["simulationId"].(string)
		user.Eventually("/api/v1/simulations/"+simulation, servicetest.HasStatus("completed"))
		// Billing is projected last. The items of the run and of the four deleted
		// workspaces are closed. The items of the other workspaces, the traceset and
		// the results are open.
		client.Eventually("/api/v1/billing/items?status=closed&limit=100", hasItems(5))
		client.Eventually("/api/v1/billing/items?status=active&limit=100", hasItems(18))
		servicetest.AwaitQuiet(t, c.Kafka[0], c.TopicPrefix, c.Postgres)
		before = tables(t, c.Postgres)
	})
	t.Run("after", func(t *testing.T) {
		p := servicetest.Start(t, func(own *settings.Config) {
			own.TopicPrefix, own.S3Bucket, own.AuditKey = c.TopicPrefix, c.S3Bucket, c.AuditKey
			own.Postgres = teststack.Postgres(t)
			c.Postgres = own.Postgres
		})
		servicetest.AwaitQuiet(t, c.Kafka[0], c.TopicPrefix, c.Postgres)
		if diff := cmp.Diff(before, tables(t, c.Postgres)); diff != "" {
			t.Errorf("the rebuilt read model differs (-before +after):\n%s", diff)
		}
		user, client := p.User(t, account), p.Service(t, account)
		user.Get("/api/v1/simulations/" + simulation).Want(200)
		client.Post("/api/v1/workspaces", map[string]any{"name": "after"}).Want(201)
	})
}

// tables returns the rows of every table of the read model.
func tables(t *testing.T, url string) map[string][]string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	rows, err := conn.Query(t.Context(), `SELECT table_name FROM information_schema.tables WHERE table_schema = 'readmodel'`)
	if err != nil {
		t.Fatal(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for _, name := range names {
		rows, err := conn.Query(t.Context(), fmt.Sprintf(`SELECT r::text FROM readmodel.%s r ORDER BY 1`, pgx.Identifier{name}.Sanitize()))
		if err != nil {
			t.Fatal(err)
		}
		if all[name], err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
			t.Fatal(err)
		}
	}
	return all
}
