package faults_test

import (
	"fmt"
	"testing"
	"time"

	"netsim/commands"
	"netsim/events"
	"netsim/infra/facts"
	"netsim/internal/publictest"
	"netsim/internal/teststack"
	"netsim/internal/testworld"
	"netsim/stream/publisher"
)

// TestAPublisherOutlivesItsBroker: the broker is killed while facts wait, and all are
// published once and in order.
func TestAPublisherOutlivesItsBroker(t *testing.T) {
	broker := teststack.Start(t, teststack.BrokerPart(), t.TempDir())
	servers := testworld.NewServers(t)
	servers.Log.Brokers = []string{broker.Addr}
	w := servers.Start(t)
	makeFacts(t, w)
	p, err := publisher.New(publisher.Config{
		Brokers: w.Log.Brokers, Prefix: w.Log.Prefix, Shards: w.Log.Partitions, Relaxed: true,
		Facts: facts.NewReader(w.EventLog, w.Watcher), Judged: w.Watcher.Next, EventLog: w.EventLog,
		Leases: testworld.AllShards(w.Log.Partitions), Log: w.Logger, Every: time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	testworld.Running(t, p.Run)
	for range kills(t, 2) {
		awaitPublished(t, w)
		broker.Kill()
		broker.Restart()
		testworld.Await(t, func() bool {
			_, err := w.EventLog.Describe(t.Context())
			return err == nil
		})
		makeFacts(t, w)
	}
	awaitPublished(t, w)
	publictest.Topics{
		Brokers: w.Log.Brokers, Log: w.EventLog, Partitions: w.Log.Partitions,
		Name: func(f events.Family) string { return publisher.Topic(w.Log.Prefix, f) },
	}.EqualToLog(t)
}

// makeFacts makes two workspaces, each with two updates, and between them records that are
// not facts.
func makeFacts(t *testing.T, w *testworld.World) {
	t.Helper()
	for range 2 {
		id := events.NewID(events.WorkspacePrefix)
		testworld.In(t, w, id, id, commands.CreateWorkspace{AccountID: testworld.Account, Owner: "tester", Name: id})
		for i := range 2 {
			testworld.In(t, w, id, id, commands.UpdateWorkspace{Name: fmt.Sprint(id, i)})
		}
		stale, _ := events.Frame{
			ID: events.DerivedUUID(id, "stale").String(), Type: events.WorkspaceUpdated{}.EventType(), Stream: id,
			PartitionKey: id, Sequence: 1, Time: time.Now(), Actor: "tester", DataVersion: 1,
		}.Message([]byte(`{"name":"never"}`))
		for _, m := range []events.Message{stale, {Key: []byte("what"), Value: []byte("is this")}} {
			wait, err := w.WriteLog.Append(t.Context(), events.Workspaces, id, m)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := wait(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// awaitPublished waits until every record is published or skipped.
func awaitPublished(t *testing.T, w *testworld.World) {
	t.Helper()
	for _, family := range events.Families() {
		topic := w.EventLog.Topic(family)
		for partition := range w.Log.Partitions {
			_, end, err := w.EventLog.Read(t.Context(), topic, partition, 0, 1, 0)
			if err != nil {
				t.Fatal(err)
			}
			testworld.Await(t, func() bool {
				at, err := w.EventLog.GroupOffsets(t.Context(), publisher.Group(w.Log.Prefix), topic, w.Log.Partitions)
				return err == nil && at[partition].Next >= end
			})
		}
	}
}
