package faults_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"netsim/internal/servicetest"
	"netsim/internal/testwait"
)

// TestKilledAtAYield kills the only worker while a run yields it to the runs of another
// account: before its snapshot, before or after the event, or before the job is enqueued again.
// All runs complete, the results are those of an undisturbed run, and the run is billed once,
// with a resumption after each yield.
func TestKilledAtAYield(t *testing.T) {
	kills, seed := kills(t, 5), servicetest.Number(t, "NETSIM_TEST_SEED", 1)
	random := rand.New(rand.NewPCG(uint64(seed), 65))
	k := newKilled(t)
	k.env = []string{"NETSIM_WORKERS=1", "NETSIM_SHORT_RUNS=0", "NETSIM_RUN_TURN=20ms"}
	other := servicetest.NewAccount()
	k.program.Grant(t, other, "1000")
	modest := k.program.User(t, other)
	first := (&servicetest.Journey{T: t, Client: k.Client}).AllToAlls("long", 128, 100, 1<<20)
	var small []string
	for range kills {
		k.start()
		awaitRow(t, k, `SELECT count(*) > 0 FROM jobs.river_job WHERE args->>'simulationId' = $1 AND state IN ('running', 'completed')`, first)
		small = append(small, modest.Post("/api/v1/simple/simulations", servicetest.SimpleSubmission(8)).Want(202).Text("simulationId"))
		awaitRow(t, k, `SELECT count(*) > 0 FROM jobs.river_job WHERE args->>'simulationId' = $1 AND (metadata ? 'yielded' OR state = 'completed')`, first)
		<-time.After(time.Duration(random.IntN(60)) * time.Millisecond)
		k.kill()
	}
	k.start()
	k.Completed(first)
	for _, id := range small {
		modest.Eventually("/api/v1/simulations/"+id, servicetest.HasStatus("completed"))
	}
	dir := k.Reproducible(first)
	if said, err := servicetest.Offline(t, k.binary, dir); err != nil {
		t.Errorf("engine run with the receipt: %v: %s", err, said)
	}
	var yields, pairs int
	err := k.db.QueryRow(t.Context(), `
		SELECT count(*) FILTER (WHERE cause_type = 'netsim.simulation.yielded.v1'),
		       count(*) FILTER (WHERE cause_type = 'netsim.simulation.resumed.v1' AND before = 'netsim.simulation.yielded.v1')
		FROM (SELECT e.cause_type, lag(e.cause_type) OVER (ORDER BY e.sequence) AS before
		      FROM readmodel.billing_events e JOIN readmodel.billing_items i ON i.id = e.item_id
		      WHERE i.resource_id = $1 AND i.resource_type = 'simulation') AS e`, first).Scan(&yields, &pairs)
	if err != nil || yields != pairs {
		t.Errorf("%d yields and %d resumptions after them are metered (%v)", yields, pairs, err)
	}
	t.Logf("%d kills, %d yields", kills, yields)
}

// awaitRow waits until the query of one boolean is true.
func awaitRow(t *testing.T, k *killed, query, id string) {
	t.Helper()
	for deadline := time.Now().Add(testwait.Limit(t)); ; <-time.After(time.Millisecond) {
		var yes bool
		if err := k.db.QueryRow(t.Context(), query, id).Scan(&yes); err != nil {
			t.Fatal(err)
		}
		if yes {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("still false: %s; the jobs: %s", query, k.jobs())
		}
	}
}
