package faults_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"syscall"
	"testing"

	"netsim/internal/servicetest"
	"netsim/internal/testworld"
)

// TestThreeProcesses has three processes share the shards of the log under load. One
// after another is killed and restarted, or suspended until the others have its shards
// and resumed. Afterwards every acknowledged write is in the read model once and is
// billed once, and the read model equals a replay from zero.
//
// The number of rounds is a fifth of that of kills. NETSIM_TEST_SEED sets the random
// seed.
func TestThreeProcesses(t *testing.T) {
	rounds, seed := max(1, kills(t, 50)/5), servicetest.Number(t, "NETSIM_TEST_SEED", 1)
	random := rand.New(rand.NewPCG(uint64(seed), 1))
	d := newDeployment(t)
	d.env = append(d.env, "NETSIM_PARTITIONS=6")
	d.start()
	const roles = "api,projector,reactor,worker"
	processes := []*deployment{d, d.beside(roles), d.beside(roles)}
	d.awaitHolders(3)
	var all []*writers
	for i, p := range processes {
		all = append(all, startNamedWriters(t, p.url, 6, fmt.Sprint("process ", i)))
	}
	suspended := 0
	for range rounds {
		n := random.IntN(len(processes))
		victim, other := processes[n], all[(n+1)%len(all)]
		other.progress(1 + random.IntN(20))
		if random.IntN(2) == 0 {
			victim.kill()
			d.awaitHolders(2)
			other.progress(20)
			victim.start()
		} else {
			suspended++
			victim.signal(syscall.SIGSTOP)
			d.awaitHolders(2)
			other.progress(20)
			victim.signal(syscall.SIGCONT)
		}
		d.awaitHolders(3)
		all[n].progress(5)
	}
	t.Logf("%d rounds, in %d of them a process was suspended", rounds, suspended)
	acknowledged := map[string]string{}
	for _, w := range all {
		acked, _ := w.stop()
		maps.Copy(acknowledged, acked)
	}
	found := d.workspaces()
	for name, id := range acknowledged {
		if ids := found[name]; len(ids) != 1 || ids[0] != id {
			t.Errorf("%s was acknowledged with the id %s, but the read model has %v", name, id, ids)
		}
	}
	testworld.Await(t, func() (billed bool) {
		d.query(`SELECT NOT EXISTS (SELECT FROM readmodel.workspaces w WHERE name LIKE 'process %'
			AND NOT EXISTS (SELECT FROM readmodel.billing_items WHERE resource_id = w.id))`, &billed)
		return billed
	})
	var billedTwice int
	d.query(`SELECT count(*) FROM (SELECT FROM readmodel.billing_items WHERE resource_type = 'workspace' GROUP BY resource_id HAVING count(*) > 1) AS twice`, &billedTwice)
	if billedTwice > 0 {
		t.Errorf("%d workspaces are billed twice", billedTwice)
	}
	servicetest.AwaitQuiet(t, d.broker.Addr, "netsim.", d.postgres.URL)
	for _, p := range processes {
		p.kill() // nothing may change while the replay is compared
	}
	d.tool("readmodel", "rebuild", "--once", "replayed")
	d.tool("readmodel", "diff", "replayed")
}

// awaitHolders waits until the shards are all held, by the wanted number of processes.
func (d *deployment) awaitHolders(want int) {
	d.t.Helper()
	testworld.Await(d.t, func() (shared bool) {
		d.query(fmt.Sprintf(`
			SELECT count(DISTINCT holder) = %d AND count(*) = 6 FROM facts.leases WHERE starts_with(subscriber, 'readmodel') AND expires_at > now()`, want), &shared)
		return shared
	})
}
