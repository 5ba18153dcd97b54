package service_test

import (
	"context"
	"testing"
	"time"

	"netsim/infra/eventlog"
	"netsim/internal/servicetest"

	"github.com/jackc/pgx/v5"
)

// simpleSubmission returns a simple submission of one small allReduce.
func simpleSubmission(ranks int) map[string]any {
	return map[string]any{
		"name": "small",
		"workload": map[string]any{
			"ranks":  ranks,
			"phases": []any{map[string]any{"operationType": "allReduce", "dataSize": 1 << 20}},
		},
	}
}

func hasStatus(status string) func(servicetest.Reply) bool {
	return func(r servicetest.Reply) bool { return r.Status == 200 && r.Object()["status"] == status }
}

func hasItems(n int) func(servicetest.Reply) bool {
	return func(r servicetest.Reply) bool {
		items, _ := r.Object()["items"].([]any)
		return r.Status == 200 && len(items) == n
	}
}

// waitUntilQuiet waits until all records of the log are judged and the log has not grown
// for a second, which is long enough for the next reaction to append.
func waitUntilQuiet(t *testing.T, broker, prefix, postgres string) {
	t.Helper()
	j, err := eventlog.Open(t.Context(), eventlog.Config{Brokers: []string{broker}, Prefix: prefix, Relaxed: true})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	conn, err := pgx.Connect(t.Context(), postgres)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context())) //nolint:errcheck // nothing was written
	every := time.NewTicker(50 * time.Millisecond)
	defer every.Stop()
	for quiet, before := 0, int64(-1); quiet < 20; <-every.C {
		log, err := j.Describe(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ends, judged := int64(0), int64(0)
		for _, topic := range log.Topics {
			for _, part := range topic.Partitions {
				ends += part.End
			}
		}
		if err := conn.QueryRow(t.Context(), `SELECT sum(next)::bigint FROM readmodel.offsets`).Scan(&judged); err != nil {
			t.Fatal(err)
		}
		if quiet++; judged != ends || ends != before {
			quiet = 0
		}
		before = ends
	}
}
