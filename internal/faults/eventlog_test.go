package faults_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
)

// TestBrokerKilledUnderLoad kills the broker with SIGKILL several times under
// concurrent writers. The first copy of an acknowledged record must be at the
// returned offset. A record that was reported as not written must not be there.
func TestBrokerKilledUnderLoad(t *testing.T) {
	kind, kills := teststack.BrokerPart(), kills(t, 5)
	if kind == "kafka" {
		kills = min(kills, 2)
	}
	broker := teststack.Start(t, kind, t.TempDir())
	log, err := eventlog.Open(t.Context(), eventlog.Config{
		Brokers: []string{broker.Addr}, Prefix: "killed.", Partitions: 2, AppendTimeout: time.Minute, Relaxed: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(log.Close)
	if err := log.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	topic := log.Topic(events.Simulations)

	const writers, betweenKills = 32, 1000
	var acknowledged atomic.Int64
	due := make(chan struct{}, kills+1) // receives after every betweenKills acknowledged appends
	stop := make(chan struct{})
	type outcome struct {
		offset int64
		err    error
	}
	outcomes := make([]map[string]outcome, writers)
	var group sync.WaitGroup
	for w := range writers {
		outcomes[w] = map[string]outcome{}
		group.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				name := fmt.Sprintf("%d-%d", w, i)
				offset, err := log.Append(topic, int32(w%2), named(name)).Wait(t.Context())
				outcomes[w][name] = outcome{offset, err}
				if err == nil && acknowledged.Add(1)%betweenKills == 0 {
					select {
					case due <- struct{}{}:
					default: // the test has made its last kill
					}
				}
			}
		})
	}
	for range kills {
		testwait.Receive(t, due, "the appends before the next kill")
		broker.Kill()
		broker.Restart()
	}
	testwait.Receive(t, due, "the appends before the next kill")
	close(stop)
	testwait.Group(t, &group, "the writers")

	first := [2]map[string]int64{}
	for p := range first {
		first[p] = firstCopies(t, log, topic, int32(p))
	}
	unknown := 0
	for w := range writers {
		for name, returned := range outcomes[w] {
			offset, found := first[w%2][name]
			switch {
			case returned.err == nil && (!found || offset != returned.offset):
				t.Errorf("%s was acknowledged at %d, and its first copy is at %d (found: %t)", name, returned.offset, offset, found)
			case errors.Is(returned.err, eventlog.ErrNotWritten) && found:
				t.Errorf("%s was reported as not written and is at %d", name, offset)
			case errors.Is(returned.err, eventlog.ErrUnknown):
				unknown++
			}
		}
	}
	t.Logf("%d kills, %d acknowledged, %d unknown", kills, acknowledged.Load(), unknown)
}

func named(name string) events.Message {
	return events.Message{Key: []byte("stream"), Value: []byte(name), Headers: []events.Header{{Key: "ce_id", Value: []byte(name)}}}
}

// firstCopies reads a partition from its begin to its end. It returns the offset of the
// first record with each name.
func firstCopies(t *testing.T, log *eventlog.Kafka, topic string, partition int32) map[string]int64 {
	t.Helper()
	first := map[string]int64{}
	for next, end := int64(0), int64(1); next < end; {
		var records []events.Record
		var err error
		records, end, err = log.Read(t.Context(), topic, partition, next, 1<<20, 5*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		for i := range records {
			if records[i].Offset != next {
				t.Fatalf("read offset %d, want %d", records[i].Offset, next)
			}
			if _, seen := first[string(records[i].Value)]; !seen {
				first[string(records[i].Value)] = next
			}
			next++
		}
	}
	return first
}
