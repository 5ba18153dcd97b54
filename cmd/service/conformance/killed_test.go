//go:build faults

package conformance_test

import (
	"testing"

	"netsim/cmd/settings"
	"netsim/internal/servicetest"
	"netsim/internal/teststack"
)

// The tests of this file kill a server. They are here and not in internal/faults because
// they send the requests of every operation that this package makes.

func TestWithoutTheLogReadsContinue(t *testing.T) {
	var broker *teststack.Process
	w := startOwn(t, func(c *settings.Config) {
		broker = teststack.Start(t, teststack.BrokerPart(), t.TempDir())
		c.Kafka = []string{broker.Addr}
	})
	requests := w.requests(t)
	broker.Kill()
	defer broker.Restart()
	w.all(t, requests, func(op operation, r servicetest.Reply) {
		switch {
		case op.id == "TerminateSimulation":
			r.Refused(409, "CONFLICT") // the simulation has ended, so no event is appended
		case op.id == "GetReadiness":
			r.Want(503)
		case op.writes():
			wantRetryable(t, op, r)
		case r.Status >= 300:
			t.Errorf("%s without the log: got %d %s, want success", op.id, r.Status, r.Body)
		}
	})
}

func TestWithPostgreSQLKilledOnlyOperationsFromMemoryAnswer(t *testing.T) {
	var postgres *teststack.Process
	w := startOwn(t, func(c *settings.Config) {
		postgres = teststack.Start(t, "postgres", t.TempDir())
		c.Postgres = postgres.URL
	})
	requests := w.requests(t)
	postgres.Kill()
	defer postgres.Restart()
	w.withoutReadModel(t, requests)
}
