package journal

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"netsim/events"
	"netsim/infra/teststack"
)

// open returns a journal on topics of the test's own, which exist. It fills in
// what the configuration leaves out.
func open(t testing.TB, c Config) *Kafka {
	t.Helper()
	if c.Brokers == nil {
		c.Brokers = teststack.Broker(t)
	}
	if c.Prefix == "" {
		c.Prefix = "test-" + uuid.NewString() + "."
	}
	if c.Partitions == 0 {
		c.Partitions = 2
	}
	c.Relaxed = true
	k, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	if err := k.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	return k
}

// message returns a message that is told apart from others by its name.
func message(name string) events.Message {
	return events.Message{
		Key:     []byte("stream"),
		Value:   []byte(`{"name":"` + name + `"}`),
		Headers: []events.Header{{Key: "ce_id", Value: []byte(name)}},
	}
}

// nameOf is the inverse of message.
func nameOf(r *events.Record) string {
	return strings.TrimSuffix(strings.TrimPrefix(string(r.Value), `{"name":"`), `"}`)
}

// readAll reads the partition from an offset to its end.
func readAll(t testing.TB, k *Kafka, topic string, partition int32, from int64) []events.Record {
	t.Helper()
	var all []events.Record
	for {
		records, end, err := k.Read(t.Context(), topic, partition, from, 1<<20, 0)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, records...)
		if len(records) > 0 {
			from = records[len(records)-1].Offset + 1
		}
		if from >= end {
			return all
		}
	}
}
