package journal

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/events"
)

func TestAppendKeepsTheOrderOfItsCalls(t *testing.T) {
	t.Parallel()
	k := open(t, Config{})
	topic := k.Topic(events.Simulations)
	const writers, each = 16, 200
	var pending [writers][each]*Pending
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for i := range each {
				pending[w][i] = k.Append(topic, 1, message(fmt.Sprintf("%d-%d", w, i)))
			}
		})
	}
	group.Wait()

	records := readAllOf(t, k, topic, 1, writers*each)
	for w := range writers {
		last := int64(-1)
		for i, p := range pending[w] {
			offset, err := p.Wait(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if offset <= last {
				t.Fatalf("writer %d: append %d is at %d, behind %d", w, i, offset, last)
			}
			last = offset
			if got, want := nameOf(&records[offset]), fmt.Sprintf("%d-%d", w, i); got != want {
				t.Fatalf("offset %d holds %s, want %s", offset, got, want)
			}
		}
	}
}

// readAllOf reads until the partition has given n records.
func readAllOf(t testing.TB, k *Kafka, topic string, partition int32, n int) []events.Record {
	t.Helper()
	var all []events.Record
	for len(all) < n {
		records, _, err := k.Read(t.Context(), topic, partition, int64(len(all)), 1<<20, 5*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, records...)
	}
	for i := range all {
		if all[i].Offset != int64(i) {
			t.Fatalf("record %d is at offset %d", i, all[i].Offset)
		}
	}
	return all
}

func TestDescribeTellsWhatThereIs(t *testing.T) {
	t.Parallel()
	k := open(t, Config{})
	topic := k.Topic(events.Billing)
	for range 3 {
		if _, err := k.Append(topic, 0, message("a")).Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	d, err := k.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Check(d); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(topic, d.TopicName(events.Billing)); diff != "" {
		t.Error(diff)
	}
}
