package faults_test

import (
	"context"
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5"

	"netsim/cmd/settings"
	"netsim/internal/servicetest"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// TestAStartOutlastsAnOutage: a service that starts while PostgreSQL, the broker or the
// object store is down is alive and not ready, says why, and serves once the server is back.
func TestAStartOutlastsAnOutage(t *testing.T) {
	for name, test := range map[string]struct {
		down func(*testing.T, *settings.Config) (back func())
		why  string
	}{
		"PostgreSQL": {func(t *testing.T, c *settings.Config) func() {
			server := teststack.Start(t, "postgres", t.TempDir())
			c.Postgres = server.URL
			server.Kill()
			return server.Restart
		}, "no PostgreSQL answers"},
		"broker": {func(t *testing.T, c *settings.Config) func() {
			server := teststack.Start(t, teststack.BrokerPart(), t.TempDir())
			c.Kafka = []string{server.Addr}
			server.Kill()
			return server.Restart
		}, "no Kafka broker answers"},
		"object store": {func(t *testing.T, c *settings.Config) func() {
			store, err := url.Parse(c.S3Endpoint)
			if err != nil {
				t.Fatal(err)
			}
			proxy := teststack.NewProxy(t, store.Host)
			c.S3Endpoint = "http://" + proxy.Addr
			proxy.Refuse()
			return proxy.Heal
		}, "check bucket"},
	} {
		t.Run(name, func(t *testing.T) {
			c := servicetest.Config(t)
			back := test.down(t, &c)
			b := servicetest.Begin(t, c)
			b.Waits(test.why)
			back()
			b.Serves()
		})
	}
}

// TestAStartOutlastsACrash: PostgreSQL crashes while a service waits for the answer to a
// statement, near the end of its start.
func TestAStartOutlastsACrash(t *testing.T) {
	server := teststack.Start(t, "postgres", t.TempDir())
	c := servicetest.Config(t)
	c.Postgres = server.URL
	first := servicetest.Begin(t, c)
	if err := testwait.Receive(t, first.Outcome, "the service to serve"); err != nil {
		t.Fatal(err)
	}
	first.Ends()

	conn, err := pgx.Connect(t.Context(), server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context())) //nolint:errcheck // its server has crashed
	if _, err := conn.Exec(t.Context(), `BEGIN; LOCK TABLE netsim.cursor_keys`); err != nil {
		t.Fatal(err)
	}
	b := servicetest.Begin(t, c)
	testworld.Await(t, func() (blocked bool) {
		err := conn.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'netsim.cursor_keys'::regclass AND NOT granted)`).Scan(&blocked)
		if err != nil {
			t.Fatal(err)
		}
		return blocked
	})
	server.Kill()
	b.Waits("")
	server.Restart()
	b.Serves()
}
