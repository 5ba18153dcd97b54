package faults_test

import (
	"math/rand/v2"
	"testing"

	"netsim/internal/servicetest"
	"netsim/internal/testworld"
)

// TestKills kills the service, the broker and PostgreSQL at random points under load.
// Afterwards the read model has every acknowledged write exactly once and every
// unacknowledged write at most once, and it equals a replay from zero.
//
// NETSIM_TEST_KILLS bounds the number of kills, and NETSIM_TEST_SEED sets the random seed.
func TestKills(t *testing.T) {
	kills, seed := kills(t, 50), servicetest.Number(t, "NETSIM_TEST_SEED", 1)
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	d := newDeployment(t)
	d.start()

	writers := startWriters(t, d.url, 16)
	victims := []struct {
		name string
		hit  func()
	}{
		{"service", func() { d.kill(); d.start() }},
		{"broker", func() { d.broker.Kill(); d.broker.Restart() }},
		{"postgres", func() { d.postgres.Kill(); d.postgres.Restart() }},
	}
	hits := map[string]int{}
	for range kills {
		writers.progress(1 + random.IntN(40))
		victim := victims[random.IntN(len(victims))]
		victim.hit()
		hits[victim.name]++
	}
	writers.progress(50)
	acknowledged, abandoned := writers.stop()
	t.Logf("kills: %v; acknowledged: %d; abandoned without an answer: %d", hits, len(acknowledged), len(abandoned))

	servicetest.AwaitQuiet(t, d.broker.Addr, "netsim.", d.postgres.URL)
	found := d.workspaces()
	for name, id := range acknowledged {
		if ids := found[name]; len(ids) != 1 || ids[0] != id {
			t.Errorf("%s was acknowledged with the id %s, but the read model has %v", name, id, ids)
		}
	}
	for _, name := range abandoned {
		if len(found[name]) > 1 {
			t.Errorf("the read model has the unacknowledged %s %d times, want at most once", name, len(found[name]))
		}
	}
	d.billed()
	d.kill() // nothing may change while the replay is compared
	d.tool("readmodel", "rebuild", "--once", "replayed")
	d.tool("readmodel", "diff", "replayed")
}

// billed waits until every workspace of an account has a billing item, and fails the
// test when a resource has two.
func (d *deployment) billed() {
	d.t.Helper()
	testworld.Await(d.t, func() (all bool) {
		d.query(`SELECT NOT EXISTS (SELECT FROM readmodel.workspaces w WHERE account_id <> '' AND NOT EXISTS
			(SELECT FROM readmodel.billing_items i WHERE i.resource_id = w.id))`, &all)
		return all
	})
	var twice int
	d.query(`SELECT count(*) FROM (SELECT FROM readmodel.billing_items GROUP BY resource_type, resource_id HAVING count(*) > 1) i`, &twice)
	if twice > 0 {
		d.t.Errorf("%d workspaces are billed twice", twice)
	}
}

// kills returns how often a test kills: as often as standard, or less if NETSIM_TEST_KILLS
// is less.
func kills(t *testing.T, standard int) int {
	t.Helper()
	return max(1, min(standard, servicetest.Number(t, "NETSIM_TEST_KILLS", standard)))
}
