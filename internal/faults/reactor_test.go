package faults_test

import (
	"context"
	"math"
	"testing"
	"time"

	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/infra/facts"
	"netsim/infra/reactor"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// lenient is a judge that accepts every record, also those to come.
type lenient struct{}

func (lenient) Next(events.Family, int32) int64 { return math.MaxInt64 }

func (lenient) Changes(...events.Family) (<-chan struct{}, func()) { return nil, func() {} }

func (lenient) Rejected(context.Context, events.Family, int32, int64, int64) (map[int64]events.Verdict, error) {
	return nil, nil
}

func (lenient) Verdict(context.Context, events.Position) (events.Verdict, error) {
	return events.Accepted, nil
}

// appendUpdate appends an event to the log, and retries until the broker takes it.
func appendUpdate(t *testing.T, log *eventlog.Kafka, stream string) {
	t.Helper()
	d := events.WorkspaceUpdated{Name: stream}
	value, err := events.Encode(d)
	if err != nil {
		t.Fatal(err)
	}
	m, _ := events.Frame{
		ID: events.DerivedUUID(stream, d.EventType()).String(), Type: d.EventType(), Stream: stream,
		PartitionKey: events.DefaultWorkspace, Sequence: 1, Time: time.Now(), Actor: "tester", DataVersion: 1,
	}.Message(value)
	testworld.Await(t, func() bool {
		_, err := log.Append(log.Topic(events.Workspaces), 0, m).Wait(t.Context())
		return err == nil
	})
}

// TestAReactorOutlivesItsBroker: a reactor outlives its broker, and reacts to every fact from
// before and after, at least once.
func TestAReactorOutlivesItsBroker(t *testing.T) {
	broker := teststack.Start(t, teststack.BrokerPart(), t.TempDir())
	log, err := eventlog.Open(t.Context(), eventlog.Config{Brokers: []string{broker.Addr}, Partitions: 1, Relaxed: true})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if err := log.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	r, err := reactor.New(reactor.Config{
		Brokers: []string{broker.Addr}, EventLog: log, Facts: facts.NewReader(log, lenient{}), Leases: testworld.AllShards(1),
		Judge: lenient{}, Log: testworld.Silent(), Retries: 10, FirstPause: time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	seen := make(chan string, 64)
	r.Handle("recorder", func(_ context.Context, f events.Fact) error {
		seen <- f.Stream
		return nil
	}, events.Workspaces)
	testworld.Running(t, r.Run)
	first, second := events.NewID(events.WorkspacePrefix), events.NewID(events.WorkspacePrefix)
	appendUpdate(t, log, first)
	if got := testwait.Receive(t, seen, "a reaction"); got != first {
		t.Errorf("reacted to %s, want %s", got, first)
	}

	broker.Kill()
	broker.Restart()
	appendUpdate(t, log, second)

	for got := first; got != second; {
		if got = testwait.Receive(t, seen, "a reaction after the kill"); got != first && got != second {
			t.Fatalf("reacted to %s, want %s, or %s once more", got, second, first)
		}
	}
}
