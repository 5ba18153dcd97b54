package service_test

import (
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"netsim/cmd/settings"
	"netsim/internal/servicetest"
)

// TestTmpPages: what the service reads of each table for a run, from
// the submission to its bill and for the first page of each list
// does not grow with what its account has already. What a start reads is subtracted. A scan of
// an account, or of a whole table, would read thousands of rows more.
func TestTmpPages(t *testing.T) {
	t.Parallel()
	const runs, rows = 2, 2000
	c := servicetest.Config(t)
	conn, err := pgx.Connect(t.Context(), c.Postgres)
	if err != nil {
		t.Fatal(err)
	}
	account := servicetest.NewAccount()
	size := 0
	// period starts the service, runs simulations and stops it. It returns how many rows were
	// read of each table.
	period := func(name string, runs int) map[string]int64 {
		before := rowsRead(t, conn)
		t.Run(name, func(t *testing.T) {
			p := servicetest.Start(t, func(own *settings.Config) { *own = c })
			p.Grant(t, account, "1000")
			user, service := p.User(t, account), p.Service(t, account)
			for range runs {
				size += 4096
				id := user.Post("/api/v1/simple/simulations", object{"workload": object{
					"ranks": 8, "phases": []object{{"operationType": "allReduce", "dataSize": size}},
				}}).Want(202).Text("simulationId")
				user.Eventually("/api/v1/simulations/"+id, servicetest.HasStatus("completed"))
				for _, page := range pages[:1] {
					user.Get("/api/v1/" + page).Want(200)
				}
				for _, page := range bills {
					service.Get("/api/v1/billing/" + page).Want(200)
				}
			}
			servicetest.AwaitQuiet(t, c.Kafka[0], c.TopicPrefix, c.Postgres)
		})
		read := rowsRead(t, conn)
		for table := range read {
			read[table] -= before[table]
		}
		return read
	}
	small, smallStart := period("small", runs), period("smallStart", 0)
	filled := fill(t, conn, rows)

	_, _, _ = small, smallStart, filled
	for _, page := range pages[:1] {
		before := rowsRead(t, conn)
		t.Run("x", func(t *testing.T) {
			p := servicetest.Start(t, func(own *settings.Config) { *own = c })
			user, service := p.User(t, account), p.Service(t, account)
			for range 5 {
				if slices.Contains(bills, page) {
					service.Get("/api/v1/billing/" + page).Want(200)
				} else {
					user.Get("/api/v1/" + page).Want(200)
				}
			}
			servicetest.AwaitQuiet(t, c.Kafka[0], c.TopicPrefix, c.Postgres)
		})
		read := rowsRead(t, conn)
		for table := range read {
			if d := read[table] - before[table]; d > 900 {
				t.Log(page, table, d)
			}
		}
	}
}
