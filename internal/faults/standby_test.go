package faults_test

import (
	"log/slog"
	"testing"
	"time"

	"netsim/cmd/settings"
	"netsim/infra/replicas"
	"netsim/internal/servicetest"
	"netsim/internal/teststack"
	"netsim/internal/testworld"
)

// TestReadsFromAStandby: reads with a token are answered by a standby that has reached it
// and otherwise by the primary, so that no client misses its own write, also while the
// standby is behind, down or promoted. Reads without a token are answered by the primary.
func TestReadsFromAStandby(t *testing.T) {
	primary := teststack.Start(t, "postgres", t.TempDir(), "--replicas", "--no-sync")
	standby := teststack.StartStandby(t, primary, t.TempDir(), "--no-sync")
	p := servicetest.StartLogged(t, slog.New(slog.DiscardHandler), func(c *settings.Config) {
		c.Postgres, c.Standbys, c.StandbyMaxLag = primary.URL, standby.URL, time.Hour
	})
	client := p.Service(t, servicetest.NewAccount())
	write := func(name string) (path, token string) {
		made := client.Post("/api/v1/workspaces", map[string]any{"name": name}).Want(201)
		return made.Header.Get("Location"), made.Token()
	}
	read := func(path, token string) servicetest.Reply {
		return client.Get(path, servicetest.Header{Name: replicas.Header, Value: token})
	}
	awaitStandby := func(path, token string) {
		testworld.Await(t, func() bool {
			before := p.Metric(t, `netsim_token_reads_total{source="standby"}`)
			read(path, token).Want(200)
			return p.Metric(t, `netsim_token_reads_total{source="standby"}`) > before
		})
	}
	first, token := write("first")
	awaitStandby(first, token)

	standby.CatchUp(primary)
	standby.Pause()
	second, token := write("second")
	awaitStandby(first, replicas.Any)
	testworld.Await(t, func() bool { return read(second, replicas.Any).Status == 404 }) // the standby answers
	client.Get(second).Want(200)
	shown := read(second, token).Want(200)
	read(second, shown.Token()).Want(200)
	read("/api/v1/workspaces", shown.Token()).Want(200)
	standby.Resume()
	awaitStandby(second, shown.Token())

	standby.Kill()
	third, token := write("third")
	read(third, token).Want(200)
	read(third, replicas.Any).Want(200)
	standby.Restart()
	awaitStandby(third, token)

	standby.Promote()
	testworld.Await(t, func() bool { return p.Metric(t, `netsim_standby_used{standby="0"}`) == 0 })
	fourth, token := write("fourth")
	read(fourth, token).Want(200)
	read(fourth, replicas.Any).Want(200)
}
