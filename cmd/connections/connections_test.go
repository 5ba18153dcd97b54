package connections_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/jackc/pgx/v5"

	"netsim/cmd/connections"
	"netsim/internal/servicetest"
	"netsim/internal/teststack"
	"netsim/internal/testworld"
)

// TestConnectionsAreOpenedWhole: when one server does not answer, no connection to the
// others is left.
func TestConnectionsAreOpenedWhole(t *testing.T) {
	t.Parallel()
	c := servicetest.Config(t)
	c.Kafka = []string{teststack.FreeAddress(t)}
	opened, err := connections.Open(t.Context(), c, nil, slog.New(slog.DiscardHandler), connections.Options{Sessions: 2, Locks: 1})
	if err == nil || opened != nil {
		t.Fatalf("without a broker: %v, %v; want nothing but an error", opened, err)
	}
	conn, err := pgx.Connect(t.Context(), c.Postgres)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context())) //nolint:errcheck // nothing was written
	testworld.Await(t, func() bool {
		var sessions int
		err := conn.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`).Scan(&sessions)
		return err == nil && sessions == 0
	})
}
