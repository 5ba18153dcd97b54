package publisher

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/google/go-cmp/cmp"

	"netsim/commands"
	"netsim/events"
	"netsim/infra/facts"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
	"netsim/stream/public"
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

// record is what a test compares of a fact.
type record struct {
	Offset         int64 // in the log
	Stream         string
	ID, Type, Hash string
	Sequence       string
	Value          string
	Time           time.Time
}

// factsOf reads a partition of the log and judges it by the rule.
func factsOf(t testing.TB, w *testworld.World, family events.Family, partition int32) (all []record) {
	t.Helper()
	heads := map[string]events.Head{}
	for next := int64(0); ; {
		records, end, err := w.EventLog.Read(t.Context(), w.EventLog.Topic(family), partition, next, 1<<20, 0)
		if err != nil {
			t.Fatal(err)
		}
		for i := range records {
			r := &records[i]
			next = r.Offset + 1
			f, hash, err := events.ReadFrame(&r.Message)
			if err != nil || events.Judge(heads[f.Stream], &f, hash, true, partition, w.Log.Partitions) != events.Accepted {
				continue
			}
			heads[f.Stream] = events.Head{Sequence: f.Sequence, Hash: hash}
			all = append(all, record{
				Offset: r.Offset, Stream: f.Stream, ID: f.ID, Type: f.Type, Hash: hash.String(),
				Sequence: fmt.Sprint(f.Sequence), Value: string(r.Value), Time: r.Time,
			})
		}
		if next >= end || len(records) == 0 {
			return all
		}
	}
}

// consume reads the committed records of a partition of a public topic, as a consumer
// with isolation.level=read_committed, up to a record that it appends.
func consume(t testing.TB, w *testworld.World, family events.Family, partition int32) (all []record) {
	t.Helper()
	topic := Topic(w.Log.Prefix, family)
	c := sarama.NewConfig()
	c.Version = sarama.V2_8_0_0
	c.Consumer.IsolationLevel = sarama.ReadCommitted
	c.Producer.Return.Successes = true
	c.Producer.RequiredAcks = sarama.WaitForAll
	c.Producer.Partitioner = sarama.NewManualPartitioner
	client, err := sarama.NewClient(w.Log.Brokers, c)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	producer, err := sarama.NewSyncProducerFromClient(client)
	if err != nil {
		t.Fatal(err)
	}
	defer producer.Close()
	_, end, err := producer.SendMessage(&sarama.ProducerMessage{Topic: topic, Partition: partition, Value: sarama.StringEncoder("end of test")})
	if err != nil {
		t.Fatal(err)
	}
	consumer, err := sarama.NewConsumerFromClient(client)
	if err != nil {
		t.Fatal(err)
	}
	defer consumer.Close()
	reading, err := consumer.ConsumePartition(topic, partition, sarama.OffsetOldest)
	if err != nil {
		t.Fatal(err)
	}
	defer reading.Close()
	for {
		m := testwait.Receive(t, reading.Messages(), "the records of "+topic)
		if m.Offset >= end {
			return all
		}
		if string(m.Value) != "end of test" { // of an earlier call
			all = append(all, recordOf(t, m))
		}
	}
}

func recordOf(t testing.TB, m *sarama.ConsumerMessage) record {
	t.Helper()
	headers := map[string]string{}
	var plain events.Message
	for _, h := range m.Headers {
		headers[string(h.Key)] = string(h.Value)
		plain.Headers = append(plain.Headers, events.Header{Key: string(h.Key), Value: h.Value})
	}
	s, err := public.SourceOf(&plain)
	if err != nil {
		t.Fatal(err)
	}
	if string(m.Key) != headers["ce_subject"] {
		t.Errorf("the key is %s, the subject %s", m.Key, headers["ce_subject"])
	}
	return record{
		Offset: s.Offset, Stream: string(m.Key), ID: headers["ce_id"], Type: headers["ce_type"], Hash: headers["ce_hash"],
		Sequence: headers["ce_sequence"], Value: string(m.Value), Time: m.Timestamp.UTC(),
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

// equalToLog fails the test unless the public topics have the facts of the log, each once
// and in order.
func equalToLog(t testing.TB, w *testworld.World) {
	t.Helper()
	total := 0
	for _, family := range events.Families() {
		for partition := range w.Log.Partitions {
			want, got := factsOf(t, w, family, partition), consume(t, w, family, partition)
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s/%d: facts (-), published (+):\n%s", family, partition, d)
			}
			total += len(got)
		}
	}
	if total == 0 {
		t.Error("nothing is published")
	}
}
