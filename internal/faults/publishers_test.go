package faults_test

import (
	"encoding/json"
	"fmt"
	"syscall"
	"testing"

	"netsim/api"
	"netsim/events"
	"netsim/infra/devissuer"
	"netsim/infra/eventlog"
	"netsim/internal/publictest"
	"netsim/internal/teststack"
	"netsim/internal/testworld"
	"netsim/stream/publisher"
)

// TestPublishersAreKilled kills and suspends processes that publish, and kills the broker,
// under load. Consumers of committed records see every fact once and in order, also of
// types that this release does not know, and also of a topic that is made again.
func TestPublishersAreKilled(t *testing.T) {
	d := newDeployment(t)
	d.start()
	second := d.beside("publisher")
	d.awaitPublishers(2)
	load := startNamedWriters(t, d.url, 4, "load")
	for range kills(t, 2) {
		load.progress(20)
		second.kill()
		load.progress(20)
		second.start()
		d.awaitPublishers(2)

		second.signal(syscall.SIGSTOP)
		d.awaitPublishers(1)
		load.progress(20)
		second.signal(syscall.SIGCONT)
		d.awaitPublishers(2)

		d.kill()
		d.awaitPublishers(1)
		d.start()
		load.progress(20)
		d.broker.Kill()
		d.broker.Restart()
		load.progress(20)
	}
	load.stop()
	w := &writers{t: t, url: d.url, token: teststack.Issuer(t).Token(devissuer.Options{Service: true, User: "writer"})}
	unknown, _ := w.send("unknown type")
	d.append(unknown, "netsim.workspace.painted.v1", `{"colour":"green"}`)

	log, err := eventlog.Open(t.Context(), eventlog.Config{Brokers: []string{d.broker.Addr}, Relaxed: true})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	description, err := log.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	topics := publictest.Topics{
		Brokers: []string{d.broker.Addr}, Log: log, Partitions: int32(len(description.Topics[0].Partitions)),
		Name: func(f events.Family) string { return publisher.Topic("", f) },
	}
	d.awaitPublished()
	topics.EqualToLog(t)
	d.tool("events", "republish", "workspaces")
	d.awaitPublished()
	topics.EqualToLog(t)
}

// publicStatus returns the JSON of netsim events.
func (d *deployment) publicStatus() (s api.PublicTopicList) {
	d.t.Helper()
	if err := json.Unmarshal([]byte(d.output("events", "--json", "--limit", "1000")), &s); err != nil {
		d.t.Fatal(err)
	}
	return s
}

// awaitPublished waits until every judged record is published.
func (d *deployment) awaitPublished() {
	d.t.Helper()
	testworld.Await(d.t, func() bool {
		s := d.publicStatus()
		lag := int64(0)
		for _, p := range s.Items {
			lag += p.LagRecords
		}
		if !s.Transactions || s.Total != int64(len(s.Items)) || s.Publisher == "" {
			d.t.Fatalf("the status is %+v", s)
		}
		return lag == 0
	})
}

// awaitPublishers waits until the wanted number of processes publishes, and all shards are
// held.
func (d *deployment) awaitPublishers(want int) {
	d.t.Helper()
	testworld.Await(d.t, func() (shared bool) {
		d.query(fmt.Sprintf(`SELECT count(DISTINCT holder) = %d AND count(*) = max(shard) + 1
			FROM facts.leases WHERE subscriber = 'publisher' AND expires_at > now() AND holder <> ''`, want), &shared)
		return shared
	})
}
