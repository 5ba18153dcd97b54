// Package publictest compares public topics with the log, for tests. It judges the
// records of the log by the rule itself, and reads public topics as a consumer does.
package publictest

import (
	"fmt"
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/google/go-cmp/cmp"

	"netsim/events"
	"netsim/infra/broker"
	"netsim/infra/eventlog"
	"netsim/internal/testwait"
	"netsim/stream/public"
)

// Topics are the public topics of a log, with as many partitions as the log.
type Topics struct {
	Brokers    []string
	Connect    *broker.Connector // nil: in plain TCP
	Log        *eventlog.Kafka
	Partitions int32
	Name       func(family events.Family) string
}

// EqualToLog fails the test unless the public topics have the facts of the log, each once
// and in order.
func (p Topics) EqualToLog(t testing.TB) {
	t.Helper()
	total := 0
	for _, family := range events.Families() {
		for partition := range p.Partitions {
			want, got := p.Facts(t, family, partition), p.Consume(t, family, partition)
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

// Record is what a test compares of a fact.
type Record struct {
	Offset         int64 // in the log
	Stream         string
	ID, Type, Hash string
	Sequence       string
	Value          string
	Time           time.Time
}

// Facts reads a partition of the log and judges it by the rule.
func (p Topics) Facts(t testing.TB, family events.Family, partition int32) (all []Record) {
	t.Helper()
	heads := map[string]events.Head{}
	for next := int64(0); ; {
		records, end, err := p.Log.Read(t.Context(), p.Log.Topic(family), partition, next, 1<<20, 0)
		if err != nil {
			t.Fatal(err)
		}
		for i := range records {
			r := &records[i]
			next = r.Offset + 1
			f, hash, err := events.ReadFrame(&r.Message)
			if err != nil || events.Judge(heads[f.Stream], &f, hash, true, partition, p.Partitions) != events.Accepted {
				continue
			}
			heads[f.Stream] = events.Head{Sequence: f.Sequence, Hash: hash}
			all = append(all, Record{
				Offset: r.Offset, Stream: f.Stream, ID: f.ID, Type: f.Type, Hash: hash.String(),
				Sequence: fmt.Sprint(f.Sequence), Value: string(r.Value), Time: r.Time,
			})
		}
		if next >= end || len(records) == 0 {
			return all
		}
	}
}

// Consume reads the committed records of a partition of a public topic, as a consumer
// with isolation.level=read_committed, up to a record that it appends.
func (p Topics) Consume(t testing.TB, family events.Family, partition int32) (all []Record) {
	t.Helper()
	topic := p.Name(family)
	c := sarama.NewConfig()
	p.Connect.Configure(c)
	c.Version = sarama.V2_8_0_0
	c.Consumer.IsolationLevel = sarama.ReadCommitted
	c.Producer.Return.Successes = true
	c.Producer.RequiredAcks = sarama.WaitForAll
	c.Producer.Partitioner = sarama.NewManualPartitioner
	client, err := sarama.NewClient(p.Brokers, c)
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

func recordOf(t testing.TB, m *sarama.ConsumerMessage) Record {
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
	return Record{
		Offset: s.Offset, Stream: string(m.Key), ID: headers["ce_id"], Type: headers["ce_type"], Hash: headers["ce_hash"],
		Sequence: headers["ce_sequence"], Value: string(m.Value), Time: m.Timestamp.UTC(),
	}
}
