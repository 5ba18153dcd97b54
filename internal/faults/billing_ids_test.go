package faults_test

import (
	"testing"

	"netsim/billing"
	"netsim/infra/postgres"
	"netsim/internal/teststack"
	"netsim/internal/testworld"
)

// TestNoIDIsTakenTwiceAfterACrash: ids outlive a crash of PostgreSQL, although the
// read model's commits do not.
func TestNoIDIsTakenTwiceAfterACrash(t *testing.T) {
	server := teststack.Start(t, "postgres", t.TempDir())
	pool, err := postgres.Open(t.Context(), server.URL, "readmodel", 4)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	if err := postgres.Migrate(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	last := int64(0)
	for range kills(t, 5) {
		var ids []int64
		testworld.Await(t, func() bool { // until PostgreSQL is back
			ids, err = billing.BillingItemIDs.Next(t.Context(), pool, 3)
			return err == nil
		})
		server.Kill()
		server.Restart()
		if ids[0] <= last {
			t.Errorf("id %d is taken after %d", ids[0], last)
		}
		last = ids[2]
	}
}
