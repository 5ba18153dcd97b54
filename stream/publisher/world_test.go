package publisher

import (
	"context"
	"fmt"
	"testing"
	"time"

	"netsim/commands"
	"netsim/events"
	"netsim/infra/facts"
	"netsim/internal/publictest"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// allShards is the lease of every shard.
type allShards int32

func (n allShards) Run(ctx context.Context, work func(context.Context, []facts.Lease) error) error {
	held := make([]facts.Lease, n)
	for i := range held {
		held[i].Shard = int32(i)
	}
	return work(ctx, held)
}

// configOf returns the settings of a publisher of the world.
func configOf(w *testworld.World) Config {
	return Config{
		Brokers: w.Log.Brokers, Prefix: w.Log.Prefix, Shards: w.Log.Partitions, Relaxed: true,
		Facts: facts.NewReader(w.EventLog, w.Watcher), Judged: w.Watcher.Next, EventLog: w.EventLog,
		Leases: allShards(w.Log.Partitions), Log: w.Logger, Every: time.Millisecond, checkEvery: 100 * time.Millisecond,
	}
}

// start runs a publisher until the test ends, or until stop.
func start(t testing.TB, c Config) (p *Publisher, stop func()) {
	t.Helper()
	p, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx) }()
	ended := false
	stop = func() {
		if cancel(); !ended {
			ended = true
			if err := testwait.Receive(t, done, "the publisher to end"); err != nil {
				t.Errorf("the publisher ended with %v", err)
			}
		}
	}
	t.Cleanup(stop)
	return p, stop
}

// makeFacts makes workspaces, each with updates, and between them records that are not
// facts.
func makeFacts(t testing.TB, w *testworld.World, workspaces, updates int) {
	t.Helper()
	for range workspaces {
		id := events.NewID(events.WorkspacePrefix)
		testworld.In(t, w, id, id, commands.CreateWorkspace{AccountID: testworld.Account, Owner: "tester", Name: id})
		for i := range updates {
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

// awaitPublished waits until the publisher's positions have reached the end of the log.
func awaitPublished(t testing.TB, w *testworld.World) {
	t.Helper()
	for _, family := range events.Families() {
		topic := w.EventLog.Topic(family)
		for partition := range w.Log.Partitions {
			_, end, err := w.EventLog.Read(t.Context(), topic, partition, 0, 1, 0)
			if err != nil {
				t.Fatal(err)
			}
			testworld.Await(t, func() bool {
				at, err := w.EventLog.GroupOffsets(t.Context(), Group(w.Log.Prefix), topic, w.Log.Partitions)
				return err == nil && at[partition].Next >= end
			})
		}
	}
}

// topics returns the public topics of the world.
func topics(w *testworld.World) publictest.Topics {
	return publictest.Topics{Brokers: w.Log.Brokers, Log: w.EventLog, Partitions: w.Log.Partitions, Name: func(f events.Family) string { return Topic(w.Log.Prefix, f) }}
}

func equalToLog(t testing.TB, w *testworld.World) {
	t.Helper()
	topics(w).EqualToLog(t)
}
