package eventlog

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/segmentio/kafka-go"

	"netsim/events"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
)

func freshPrefix() string { return "test-" + uuid.NewString() + "." }

// open returns an event log and creates its topics. Unless the configuration says
// otherwise, the broker is the shared one and the topics are the test's own.
func open(t testing.TB, c Config) *Kafka {
	t.Helper()
	if c.Brokers == nil {
		c.Brokers = teststack.Broker(t)
	}
	if c.Prefix == "" {
		c.Prefix = freshPrefix()
	}
	if c.Partitions == 0 {
		c.Partitions = 2
	}
	if c.AppendTimeout == 0 {
		c.AppendTimeout = time.Minute
	}
	c.Relaxed = true
	k, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	// A busy broker may be unavailable for a moment, for which a start waits.
	for ends := time.Now().Add(testwait.Limit(t)); ; {
		err := k.Ensure(t.Context())
		if unavailable, _ := IsUnavailable(err); !unavailable || time.Now().After(ends) {
			if err != nil {
				t.Fatal(err)
			}
			return k
		}
	}
}

// message returns a message with the name as its value and event id.
func message(name string) events.Message {
	return events.Message{
		Key:     []byte("stream"),
		Value:   []byte(name),
		Headers: []events.Header{{Key: "ce_id", Value: []byte(name)}},
	}
}

func nameOf(r *events.Record) string { return string(r.Value) }

func namesOf(records []events.Record) string {
	names := make([]string, len(records))
	for i := range records {
		names[i] = nameOf(&records[i])
	}
	return strings.Join(names, " ")
}

// await returns the offset of an append that must succeed.
func await(t testing.TB, p *Pending) int64 {
	t.Helper()
	offset, err := p.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return offset
}

// readAll reads the partition from its start until it has read at least n records
// and reached the end.
func readAll(t testing.TB, k *Kafka, topic string, partition int32, n int) []events.Record {
	t.Helper()
	var all []events.Record
	for {
		records, end, err := k.Read(t.Context(), topic, partition, int64(len(all)), 1<<20, 5*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		for i := range records {
			if want := int64(len(all) + i); records[i].Offset != want {
				t.Fatalf("read offset %d, want %d", records[i].Offset, want)
			}
		}
		all = append(all, records...)
		if len(all) >= n && int64(len(all)) >= end {
			return all
		}
	}
}

// alter changes a setting of a topic and waits until the cluster reports the change.
func alter(t testing.TB, k *Kafka, topic, setting, value string) {
	t.Helper()
	res, err := k.client.IncrementalAlterConfigs(t.Context(), &kafka.IncrementalAlterConfigsRequest{
		Resources: []kafka.IncrementalAlterConfigsRequestResource{{
			ResourceType: kafka.ResourceTypeTopic,
			ResourceName: topic,
			Configs:      []kafka.IncrementalAlterConfigsRequestConfig{{Name: setting, Value: value, ConfigOperation: kafka.ConfigOperationSet}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range res.Resources {
		if r.Error != nil {
			t.Fatal(r.Error)
		}
	}
	for {
		for _, described := range describe(t, k).Topics {
			if described.Name == topic && described.Settings[setting] == value {
				return
			}
		}
	}
}

// describe returns the log's description. It fails the test on an error.
func describe(t testing.TB, k *Kafka) Description {
	t.Helper()
	d, err := k.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return d
}
