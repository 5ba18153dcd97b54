package publisher

import (
	"testing"

	"github.com/IBM/sarama"
	"github.com/google/go-cmp/cmp"

	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/internal/testworld"
)

// Committed reads what a consumer of committed records gets: no record of an aborted
// transaction, also when it begins within one, and none of an open transaction. It knows
// what the publisher claims, and no claim about a former topic.
func TestOnlyCommittedRecordsAreRead(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	makeFacts(t, w, 4, 3)
	c := configOf(w)
	_, stop := start(t, c)
	awaitPublished(t, w)
	stop()

	const partition = 0
	topic := Topic(w.Log.Prefix, events.Workspaces)
	settings := c.producing(partition, true)
	settings.Producer.Transaction.ID = "another writer of " + topic
	producer, err := sarama.NewSyncProducer(c.Brokers, settings)
	if err != nil {
		t.Fatal(err)
	}
	defer producer.Close()
	send := func(values ...string) (last int64) {
		if err := producer.BeginTxn(); err != nil {
			t.Fatal(err)
		}
		for _, v := range values {
			var err error
			if _, last, err = producer.SendMessage(&sarama.ProducerMessage{Topic: topic, Partition: partition, Value: sarama.StringEncoder(v)}); err != nil {
				t.Fatal(err)
			}
		}
		return last
	}
	committed, err := OpenCommitted(c)
	if err != nil {
		t.Fatal(err)
	}
	defer committed.Close()
	read := func(from int64) (values []string) {
		for {
			records, next, err := committed.Read(t.Context(), events.Workspaces, partition, from)
			if err != nil {
				t.Fatal(err)
			}
			if next == from {
				return values
			}
			for _, r := range records {
				if r.Offset < from || r.Topic != topic || r.Partition != partition {
					t.Errorf("read %s/%d at %d from %d", r.Topic, r.Partition, r.Offset, from)
				}
				values = append(values, string(r.Value))
			}
			from = next
		}
	}
	var want []string
	for _, r := range topics(w).Facts(t, events.Workspaces, partition) {
		want = append(want, r.Value)
	}
	within := send("aborted 1", "aborted 2")
	if err := producer.AbortTxn(); err != nil {
		t.Fatal(err)
	}
	send("kept 1", "kept 2")
	if err := producer.CommitTxn(); err != nil {
		t.Fatal(err)
	}
	send("open")
	want = append(want, "kept 1", "kept 2")
	if d := cmp.Diff(want, read(0)); d != "" {
		t.Errorf("committed (-want +read):\n%s", d)
	}
	if d := cmp.Diff(want[len(want)-2:], read(within)); d != "" {
		t.Errorf("from within an aborted transaction (-want +read):\n%s", d)
	}
	if err := producer.CommitTxn(); err != nil {
		t.Fatal(err)
	}
	// A commit is answered before its markers are written. The coordinator lets the next
	// transaction begin when they are.
	send("after it")
	if d := cmp.Diff(append(want, "open"), read(0)); d != "" {
		t.Errorf("committed at last (-want +read):\n%s", d)
	}

	_, end, err := w.EventLog.Read(t.Context(), w.EventLog.Topic(events.Workspaces), partition, 0, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	claims := func() int64 {
		claimed, err := committed.Claimed(t.Context(), events.Workspaces, partition)
		if err != nil {
			t.Fatal(err)
		}
		return claimed
	}
	if claimed := claims(); claimed != end {
		t.Errorf("the publisher claims everything before %d, want %d", claimed, end)
	}
	for _, metadata := range []string{metadataVersion + "the id of a former topic:", "", "set by hand"} {
		err := w.EventLog.CommitGroup(t.Context(), Group(c.Prefix), w.EventLog.Topic(events.Workspaces),
			map[int32]eventlog.GroupOffset{partition: {Next: end, Metadata: metadata}})
		if err != nil {
			t.Fatal(err)
		}
		if claimed := claims(); claimed != 0 {
			t.Errorf("a position with %q claims %d, want 0", metadata, claimed)
		}
	}
}
