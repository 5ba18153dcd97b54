//go:build faults

package conformance_test

import (
	"slices"
	"strings"
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
	requests, hurried := w.requests(t), w.hurried(t)
	broker.Kill()
	defer broker.Restart()
	hurried.all(t, requests, func(op operation, r servicetest.Reply) {
		switch {
		case op.id == "TerminateSimulation", op.id == "TerminateRun":
			r.Refused(409, "CONFLICT") // the simulation has ended, so no event is appended
		case op.id == "GetReadiness":
			r.Want(503)
		case op.writes():
			wantRetryable(t, op, r)
		case op.describesTheLog():
			wantRetryable(t, op, r)
			if _, message := refusal(r); !strings.Contains(message, "log") {
				t.Errorf("%s says %q, want that the log is the reason", op.id, message)
			}
		case slices.Contains([]string{"GetStream", "ListCauses", "GetBundle"}, op.id): // they read facts from the log, unless they are in memory
			if r.Status >= 300 {
				wantRetryable(t, op, r)
			}
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
	requests, hurried := w.requests(t), w.hurried(t)
	postgres.Kill()
	defer postgres.Restart()
	hurried.withoutReadModel(t, requests)
}

// describesTheLog reports whether the operation is one of the operators' that compare
// something with the log, or read or record something there.
func (op operation) describesTheLog() bool {
	return slices.Contains([]string{
		"ListReadModels", "ListStreamFamilies", "ListReactions", "ListDeadLetters", "ShowDeadLetter", "ShowParkedFact", "ShowLake", "ListPublicTopics",
	}, op.id)
}
