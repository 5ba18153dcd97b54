package reactor_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/ThreeDotsLabs/watermill/message/router/middleware"
	"github.com/google/go-cmp/cmp"
	"github.com/segmentio/kafka-go"

	"netsim/events"
	"netsim/infra/reactor"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// poisoned waits for the first record in the poison topic, in any partition.
func poisoned(t *testing.T, w *testworld.World, r *reactor.Reactor) kafka.Message {
	t.Helper()
	reader := kafka.NewReader(kafka.ReaderConfig{
		Brokers: w.Log.Brokers, Topic: r.PoisonTopic(), GroupID: w.Log.Prefix + "poison-reader",
		StartOffset: kafka.FirstOffset, MaxWait: 50 * time.Millisecond,
	})
	defer reader.Close()
	m, err := reader.ReadMessage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func header(m kafka.Message, key string) string {
	for _, h := range m.Headers {
		if h.Key == key {
			return string(h.Value)
		}
	}
	return ""
}

// TestPoison: what a handler cannot do goes aside after the last try, and the
// partition goes on.
func TestPoison(t *testing.T) {
	t.Parallel()
	for name, failing := range map[string]func() error{
		"an error": func() error { return errors.New("out of ideas") },
		"a panic":  func() error { panic("out of ideas") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := testworld.New(t)
			bad, good := workspace(t, w, "bad"), workspace(t, w, "good")
			r, registry := newReactor(t, w, nil)
			seen := make(chan string, 8)
			r.Handle("picky", func(_ context.Context, f events.Fact) error {
				seen <- f.Stream
				if f.Stream == bad {
					return failing()
				}
				return nil
			}, events.Workspaces)
			testworld.Running(t, r.Run)

			for i, want := range []string{bad, bad, bad, good} {
				if got := testwait.Receive(t, seen, "a reaction"); got != want {
					t.Fatalf("call %d was for %s, want %s", i+1, got, want)
				}
			}
			m := poisoned(t, w, r)
			if string(m.Key) != bad || header(m, "ce_subject") != bad || header(m, "reason_poisoned") == "" || header(m, "offset_poisoned") != "0" {
				t.Errorf("poison record with key %s and headers %s", m.Key, m.Headers)
			}
			if n := outcomes(t, registry, "picky")["poisoned"]; n != 1 {
				t.Errorf("%d facts counted as poisoned", n)
			}
		})
	}
}

// TestRedrive: what went aside is reacted to once its handler can.
func TestRedrive(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	one, two := workspace(t, w, "one"), workspace(t, w, "two")
	var broken atomic.Bool
	broken.Store(true)
	r, registry := newReactor(t, w, nil)
	seen := make(chan events.Fact, 16)
	r.Handle("mended", func(_ context.Context, f events.Fact) error {
		if broken.Load() {
			return errors.New("not yet")
		}
		seen <- f
		return nil
	}, events.Workspaces)
	testworld.Running(t, r.Run)
	testworld.Await(t, func() bool { return outcomes(t, registry, "mended")["poisoned"] == 2 })
	if done, err := r.Redrive(t.Context()); done != 0 || err == nil {
		t.Errorf("%d facts were done while the handler is broken: %v", done, err)
	}

	broken.Store(false)
	if done, err := r.Redrive(t.Context()); done != 2 || err != nil {
		t.Errorf("%d facts were done, want 2: %v", done, err)
	}

	got := map[string]int64{}
	for range 2 {
		f := testwait.Receive(t, seen, "a reaction")
		got[f.Stream] = f.Offset
		if d, ok := f.Data.(events.WorkspaceCreated); !ok || d.Owner != "tester" || f.Family != events.Workspaces || f.RecordedAt.IsZero() {
			t.Errorf("the fact came back as %+v", f)
		}
	}
	if diff := cmp.Diff(map[string]int64{one: 0, two: 1}, got); diff != "" {
		t.Errorf("offsets of what was redriven (-want +got):\n%s", diff)
	}
}

// TestPoisonRecordsOnlyPoint: whoever reaches the broker can write to the poison
// topic. What is reacted to again is what the log has at the place named, and
// only if it is a fact.
func TestPoisonRecordsOnlyPoint(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	real := workspace(t, w, "real")
	r, _ := newReactor(t, w, nil)
	var seen []events.Fact
	r.Handle("fooled", func(_ context.Context, f events.Fact) error {
		seen = append(seen, f)
		return nil
	}, events.Workspaces)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }() // it makes the poison topic
	testworld.Await(t, func() bool {
		_, err := r.Redrive(t.Context())
		return err == nil
	})
	stop()
	if err := testwait.Receive(t, ended, "the reactor"); err != nil {
		t.Fatal(err)
	}
	seen = nil
	forge(t, w, r, real, events.PartitionOf(events.DefaultWorkspace, 2), "0")
	if done, err := r.Redrive(t.Context()); done != 1 || err != nil || len(seen) != 1 {
		t.Fatalf("%d done, %v, reacted to %+v", done, err, seen)
	}
	if d, ok := seen[0].Data.(events.WorkspaceCreated); !ok || d.Owner != "tester" {
		t.Errorf("reacted to %+v", seen[0])
	}
}

// forge writes a record to the poison topic that points at a place in the log
// and claims that another event is there.
func forge(t *testing.T, w *testworld.World, r *reactor.Reactor, stream string, partition int32, offset string) {
	t.Helper()
	value, err := events.Encode(events.WorkspaceCreated{AccountID: testworld.Account, Owner: "forger", Name: "forged"})
	if err != nil {
		t.Fatal(err)
	}
	m, _ := events.Frame{
		ID: "forged", Type: "netsim.workspace.created.v1", Stream: stream, PartitionKey: stream, Sequence: 1,
		Time: time.UnixMilli(0), DataVersion: 1,
	}.Message(value)
	record := &sarama.ProducerMessage{Topic: r.PoisonTopic(), Value: sarama.ByteEncoder(m.Value)}
	add := func(name, value string) {
		record.Headers = append(record.Headers, sarama.RecordHeader{Key: []byte(name), Value: []byte(value)})
	}
	for _, h := range m.Headers {
		add(h.Key, string(h.Value))
	}
	add("partition_poisoned", fmt.Sprint(partition))
	add("offset_poisoned", offset)
	add("recorded_poisoned", "2026-11-22T00:00:00Z")
	add(middleware.PoisonedTopicKey, w.Log.Topic(events.Workspaces))
	add(middleware.PoisonedHandlerKey, r.Group("fooled", events.Workspaces))
	c := sarama.NewConfig()
	c.Producer.Return.Successes = true
	producer, err := sarama.NewSyncProducer(w.Log.Brokers, c)
	if err != nil {
		t.Fatal(err)
	}
	defer producer.Close() //nolint:errcheck // it was acknowledged
	if _, _, err := producer.SendMessage(record); err != nil {
		t.Fatal(err)
	}
}

// TestUnreadableFact: a type of a later release goes aside without a try.
func TestUnreadableFact(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	stream := events.NewID(events.WorkspacePrefix)
	m, _ := frame(stream, "netsim.workspace.unheard_of.v1", 1).Message([]byte(`{}`))
	appendRecord(t, w, m, events.Accepted)
	good := workspace(t, w, "good")
	r, _ := newReactor(t, w, nil)
	seen := make(chan string, 8)
	r.Handle("old", func(_ context.Context, f events.Fact) error {
		seen <- f.Stream
		return nil
	}, events.Workspaces)
	testworld.Running(t, r.Run)

	if got := testwait.Receive(t, seen, "a reaction"); got != good {
		t.Errorf("reacted to %s, want only %s", got, good)
	}
	if m := poisoned(t, w, r); header(m, "ce_type") != "netsim.workspace.unheard_of.v1" {
		t.Errorf("poison record with headers %s", m.Headers)
	}
}
